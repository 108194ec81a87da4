package dev.verbena.nessie.xfer;

import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.transport.Transport;
import org.agrona.ErrorHandler;

/**
 * Calls a transfer service. {@link #start} and {@link #doWork} never wait; {@link #transfer} does.
 * One thread.
 */
public final class XferClient implements AutoCloseable {
    /** How often {@link #connect} asks again a server that does not answer in time. */
    public static final int RETRIES = 5;

    private final RpcEndpoint endpoint;
    private final RpcService service;
    private final long timeoutMs;

    private XferClient(RpcEndpoint endpoint, String url, long connectMs, long timeoutMs) {
        this.endpoint = endpoint;
        this.timeoutMs = timeoutMs;
        this.service = service(endpoint, url, connectMs);
        for (XferMethod method : XferMethod.values()) {
            endpoint.client().register(method.opcode());
        }
    }

    /**
     * Finds a service, and waits for that.
     *
     * @param transport closed with the client, also if this throws
     * @param connectMs milliseconds; after so many it is asked again, {@link #RETRIES} times
     * @param timeoutMs milliseconds, of each transfer
     * @param errors gets what goes wrong in between
     * @throws NntiException naming why not
     */
    public static XferClient connect(
            Transport transport, String url, long connectMs, long timeoutMs, ErrorHandler errors) {
        return RpcEndpoint.over(
                transport, errors, endpoint -> new XferClient(endpoint, url, connectMs, timeoutMs));
    }

    private static RpcService service(RpcEndpoint endpoint, String url, long connectMs) {
        for (int left = RETRIES; ; left--) {
            try {
                return endpoint.client().getService(url, connectMs);
            } catch (NntiException e) {
                if (e.result() != NntiResult.ETIMEDOUT || left == 0) {
                    throw e;
                }
            }
        }
    }

    /**
     * Makes a request, with its memory. To be used again and again.
     *
     * @param count elements, 1 to {@link DataArray#COUNT_MAX}
     */
    public XferRequest request(XferMethod method, int count, Validation validation) {
        return new XferRequest(endpoint.transport(), method, count, validation);
    }

    /**
     * Starts a transfer; {@link XferRequest#isDone} says when it has ended.
     *
     * @param seed what the elements are made of
     */
    public void start(XferRequest request, int seed) {
        request.start(endpoint.client(), service, seed, timeoutMs);
    }

    /** Does what can be done now; work done. */
    public int doWork() {
        return endpoint.doWork();
    }

    /**
     * Transfers, and waits.
     *
     * @throws XferException saying what went wrong
     */
    public void transfer(XferRequest request, int seed) {
        start(request, seed);
        endpoint.client().await(request.rpc, NntiTransport.NEVER);
        request.check();
    }

    /**
     * Bytes of the messages and the bulk data of a transfer that has ended, without what the
     * transport adds (specification, section 2.3).
     */
    public long wireLength(XferRequest request) {
        return request.wireLength(service);
    }

    /**
     * Ends the server in order, and waits for its answer.
     *
     * @throws dev.verbena.nessie.rpc.RpcException if it did not come
     */
    public void kill() {
        endpoint.client().kill(service, 0, timeoutMs);
    }

    /** Has the server trace requests to a new file of this name, see {@code traceReset}. */
    public void trace(String name) {
        endpoint.client().traceReset(service, name, 0, new int[0], timeoutMs);
    }

    /** What is under way fails. */
    @Override
    public void close() {
        endpoint.close();
    }
}
