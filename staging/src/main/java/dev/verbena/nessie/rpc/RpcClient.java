package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.nessie.rpc.wire.TraceRequest;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.collections.ArrayListUtil;
import org.agrona.collections.IntHashSet;

/**
 * Calls procedures of servers. A call's deadline covers sending, the server's work and the fetch of
 * a long result. Only the {@code await} calls and {@link #getService} block. Owned by the
 * transport's thread. A call whose arguments and result are short allocates nothing.
 */
public final class RpcClient {
    /** Longest result that a call takes, bytes: 256 MiB. */
    public static final int RESULT_LENGTH_MAX = 1 << 28;

    private static final int CYCLES_PER_LOOK = 8;
    private static final long MS = 1_000_000;

    private final NntiTransport transport;
    private final RegisteredBuffers longArgs;
    private final RegisteredBuffers longResults;
    private final IntHashSet stubs = new IntHashSet();
    private final ArrayList<ClientRequest> active = new ArrayList<>();

    private final RpcMessage arrived = new RpcMessage();
    private final Outgoing responseless = new Outgoing();
    private final Pushes pushes;
    private final int exchange;
    private long nextId = 1;

    /** Calls that are to be sent, or whose results are being fetched. */
    private int busyCount;

    private int cycles;
    private long lateCount;
    private long longResultCount;

    RpcClient(NntiTransport transport) {
        this.transport = transport;
        this.exchange = (int) transport.id();
        this.longArgs = new RegisteredBuffers(transport, BufferFlags.GET_SRC);
        this.longResults = new RegisteredBuffers(transport, BufferFlags.GET_DST);
        this.pushes = new Pushes(transport);
        IntStream.rangeClosed(Opcode.NULL, Opcode.TRACE_RESET).forEach(this::register);
    }

    /** Says that this client knows the types of an operation; must precede its first call. */
    public void register(int opcode) {
        stubs.add(opcode);
    }

    /**
     * Finds a server.
     *
     * @param timeoutMs milliseconds, over connecting and asking
     * @throws NntiException naming why not; {@code EBADRPC} if what is there is no Nessie server
     */
    public RpcService getService(String url, long timeoutMs) {
        ServiceSearch search = search(url, timeoutMs);
        BooleanSupplier isOver = () -> doWork() + search.look() >= 0 && search.isDone();
        return search.found(transport.await(isOver, NntiTransport.NEVER));
    }

    /**
     * Starts to find a server.
     *
     * @param timeoutMs milliseconds, over connecting and asking
     * @throws NntiException {@code EINVAL} for an address of another scheme, or none
     */
    public ServiceSearch search(String url, long timeoutMs) {
        return new ServiceSearch(this, transport, url, timeoutMs);
    }

    /**
     * Starts a call.
     *
     * @param args null: none
     * @param result is decoded into before the call is done; null: what comes is not looked at
     * @param data the server reads or writes it, or asks for it (its flags say which: {@code
     *     GET_SRC}, {@code PUT_DST}, {@code PUT_SRC}) until the call is done; null: none. Short
     *     data that the server may only get travel in the request
     * @param dataLength bytes of it that the server may use
     * @param timeoutMs deadline of the whole call, milliseconds
     * @return {@code OK}: it is under way; otherwise nothing was sent and the call is done: {@code
     *     ENOENT} (operation not registered here), {@code EMSGSIZE}, {@code EENCODE}, {@code
     *     EINVAL}, {@code EIO}
     */
    public RpcResult call(
            ClientRequest request,
            RpcService service,
            int opcode,
            XdrValue args,
            XdrValue result,
            NntiBuffer data,
            long dataLength,
            long timeoutMs) {
        boolean isDataWrong =
                data != null && (dataLength > data.length() || dataLength < 0 || !data.isOpen());
        request.begin(this, service, result, data, NntiTransport.timeoutNs(timeoutMs));
        Outgoing message = request.message;
        message.begin(args).request(exchange, nextId++, opcode, 0);
        if (data != null && (isDataWrong || !message.inline(data, dataLength, service))) {
            message.header.data(dataLength, data.handle());
        }
        RpcResult prepared = isDataWrong ? RpcResult.EINVAL : RpcResult.ENOENT;
        if (!isDataWrong && stubs.contains(opcode)) {
            prepared = message.prepare(service.requestLength(), service.argsLengthMax(), longArgs);
        }
        if (prepared != RpcResult.OK) {
            request.done(prepared, 0);
            return prepared;
        }
        active.add(request);
        busyCount++;
        send(request);
        return request.isDone() ? request.result() : RpcResult.OK;
    }

    /**
     * A call without an answer.
     *
     * @return {@code EINVAL} if the arguments do not fit into a request; {@code EBADRPC}: not now
     */
    public RpcResult callResponseless(RpcService service, int opcode, XdrValue args) {
        if (!stubs.contains(opcode)) {
            return RpcResult.ENOENT;
        }
        int flags = RpcConstants.FLAG_RESPONSELESS;
        responseless.begin(args).request(exchange, nextId++, opcode, flags);
        return responseless.prepare(service.requestLength(), 0, longArgs) == RpcResult.OK
                ? RpcResult.of(responseless.send(transport, service.peer(), true))
                : RpcResult.EINVAL;
    }

    private void send(ClientRequest request) {
        NntiResult result = request.message.send(transport, request.service.peer(), true);
        if (result == NntiResult.OK) {
            busyCount--;
            request.sent();
        } else if (result != NntiResult.EAGAIN) {
            end(request, RpcResult.of(result), 0);
        }
    }

    /** Sends, fetches and times out what is due; work done. Part of {@link RpcEndpoint#doWork}. */
    int doWork() {
        int work = pushes.doWork();
        // Most cycles leave the clock alone, which costs as much as an empty look into the network.
        boolean isLook = !active.isEmpty() && ++cycles % CYCLES_PER_LOOK == 0;
        return busyCount > 0 || isLook ? work + stepAll() : work;
    }

    private int stepAll() {
        int work = 0;
        long now = transport.transport().nanoTime();
        for (int i = active.size() - 1; i >= 0; i--) {
            ClientRequest request = active.get(i);
            ClientRequest.State before = request.state();
            step(request);
            if (!request.isDone() && now - request.deadlineNs(now) >= 0) {
                end(request, RpcResult.ETIMEDOUT, 0);
            }
            work += request.state() == before ? 0 : 1;
            // What is run when a call is done may have started and ended others.
            i = Math.min(i, active.size());
        }
        return work;
    }

    private void step(ClientRequest request) {
        if (request.state() == ClientRequest.State.SENDING) {
            send(request);
        } else if (request.fetch.isComplete()) {
            fetched(request);
        }
    }

    private void fetched(ClientRequest request) {
        if (acknowledge(request.service.peer(), request.id()) == NntiResult.EAGAIN) {
            return;
        }
        Fetch fetch = request.fetch;
        if (fetch.result() == RpcResult.OK) {
            decode(request, fetch.bytes(), 0, fetch.length(), request.remoteCode());
        } else {
            end(request, fetch.result(), 0);
        }
    }

    /** The server need not keep a result any more. */
    private NntiResult acknowledge(NntiPeer peer, long id) {
        return arrived.request(exchange, id, 0, 0).tell(transport, peer, RpcConstants.ACK);
    }

    private void decode(ClientRequest request, DirectBuffer buffer, int at, int length, int code) {
        XdrValue value = code == 0 ? request.resultValue : null;
        end(request, RpcMessage.decode(value, buffer, at, length), code);
    }

    /** A result: belongs to the call of this id at this peer, or is late. */
    void onResult(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        ClientRequest request = find(peer, buffer, at);
        boolean isWhole = arrived.decode(buffer, at, length, false);
        if (request == null) {
            lateCount++;
            if (isWhole && arrived.isFetch()) {
                acknowledge(peer, arrived.fields.id());
            }
        } else if (!isWhole) {
            end(request, RpcResult.EDECODE, 0);
        } else if (!arrived.isFetch()) {
            decode(request, buffer, arrived.bodyAt, arrived.fields.bodyLength(), arrived.code());
        } else if (arrived.fields.bodyLength() > RESULT_LENGTH_MAX) {
            end(request, RpcResult.EMSGSIZE, 0);
        } else {
            fetch(request);
        }
    }

    /** A server asks for data of a call. */
    void onAsk(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        pushes.onAsk(peer, find(peer, buffer, at), buffer, at, length);
    }

    private void fetch(ClientRequest request) {
        RpcResult started = request.fetch.start(longResults, request.service.peer(), arrived);
        if (started != RpcResult.OK) {
            end(request, started, 0);
            return;
        }
        request.fetching(arrived.code());
        busyCount++;
        longResultCount++;
    }

    /** The call that a message of its server is about; null: none is at the server. */
    private ClientRequest find(NntiPeer peer, DirectBuffer buffer, int at) {
        long id = RpcMessage.idOf(buffer, at);
        for (int i = active.size() - 1; i >= 0; i--) {
            ClientRequest each = active.get(i);
            if (each.id() == id
                    && each.service.peer() == peer
                    && RpcMessage.exchangeOf(buffer, at) == exchange
                    && each.state() == ClientRequest.State.PROCESSING_REQUEST) {
                return each;
            }
        }
        return null;
    }

    private void end(ClientRequest request, RpcResult result, int code) {
        busyCount -= request.state() == ClientRequest.State.PROCESSING_REQUEST ? 0 : 1;
        ArrayListUtil.fastUnorderedRemove(active, request);
        request.message.free(longArgs, result == RpcResult.OK);
        request.fetch.free(longResults);
        request.done(result, code);
    }

    /**
     * Gives a call up: it ends with {@code ECANCELED}, a late result is discarded. Bulk data that
     * the caller has registered is to be unregistered before it is used for anything else.
     */
    public void cancel(ClientRequest request) {
        if (active.contains(request)) {
            end(request, RpcResult.ECANCELED, 0);
        }
    }

    void onPeerClosed(NntiPeer peer) {
        for (int i = active.size() - 1; i >= 0; i--) {
            if (i < active.size() && active.get(i).service.peer() == peer) {
                end(active.get(i), RpcResult.EIO, 0);
            }
        }
    }

    /** Looks once; true when the call is done, so that {@link #await} would not block. */
    public boolean test(ClientRequest request) {
        if (!request.isDone()) {
            transport.progress();
            doWork();
        }
        return request.isDone();
    }

    /**
     * Waits for a call.
     *
     * @param timeoutMs milliseconds; negative: as long as the call may take
     * @return {@link ClientRequest#result}, or {@code ETIMEDOUT}: the call goes on
     */
    public RpcResult await(ClientRequest request, long timeoutMs) {
        NntiResult waited = transport.await(request.completion, timeoutMs);
        return request.isDone() ? request.result() : RpcResult.of(waited);
    }

    /** Waits until one of these calls is done; its index, or -1: none within the time. */
    public int awaitAny(List<ClientRequest> requests, long timeoutMs) {
        BooleanSupplier isAnyDone =
                () -> doWork() >= 0 && NntiTransport.first(requests, ClientRequest::isDone) >= 0;
        transport.await(isAnyDone, timeoutMs);
        return NntiTransport.first(requests, ClientRequest::isDone);
    }

    /**
     * Waits for all of these calls; each tells how it went itself.
     *
     * @return {@code EBADRPC} if one failed, else {@code ETIMEDOUT} if one timed out or goes on
     */
    public RpcResult awaitAll(List<ClientRequest> requests, long timeoutMs) {
        long end = transport.transport().nanoTime() + NntiTransport.timeoutNs(timeoutMs);
        RpcResult worst = RpcResult.OK;
        for (ClientRequest request : requests) {
            long leftMs = Math.max(0, end - transport.transport().nanoTime() + MS - 1) / MS;
            RpcResult result = await(request, leftMs);
            if (result != RpcResult.OK && worst != RpcResult.EBADRPC) {
                worst = result == RpcResult.ETIMEDOUT ? result : RpcResult.EBADRPC;
            }
        }
        return worst;
    }

    /**
     * Ends a server: signal 0 in order, after what it has accepted, and waits until it has said so;
     * a greater one at once, with that code.
     *
     * @throws RpcException if the server was not reached, or refuses a negative signal
     */
    public void kill(RpcService service, int signal, long timeoutMs) {
        XdrInts args = new XdrInts(true, 1);
        args.set(0, signal);
        if (signal <= 0) {
            ask(service, Opcode.KILL_SERVICE, args, timeoutMs, "kill");
            return;
        }
        RpcResult how = callResponseless(service, Opcode.KILL_SERVICE, args);
        if (how != RpcResult.OK) {
            throw new RpcException(how, 0, "kill");
        }
    }

    /**
     * Ends a server's trace and begins another one, a line for each request that ends from then on:
     * arrival and times in its phases in nanoseconds, opcode, number, code, client. Waits for the
     * answer.
     *
     * @param file new name in the folder that the server allows; empty: no trace
     * @param type 0: lines of values with commas between them
     * @param opcodes that are traced; none: all
     * @throws RpcException with the code of {@code EPERM}: the server allows none, {@code EINVAL}:
     *     not the name of a file, {@code EEXIST}: there is such a file, or 64 others, {@code
     *     ENOTSUP}: another type
     */
    public void traceReset(
            RpcService service, String file, int type, int[] opcodes, long timeoutMs) {
        TraceRequest args = new TraceRequest().type(type);
        args.file().text(file);
        Arrays.stream(opcodes).forEach(args.opcodes()::add);
        ask(service, Opcode.TRACE_RESET, args, timeoutMs, "trace to '" + file + "'");
    }

    private void ask(RpcService service, int opcode, XdrValue args, long timeoutMs, String what) {
        ClientRequest request = new ClientRequest();
        call(request, service, opcode, args, null, null, 0, timeoutMs);
        RpcResult how = await(request, NntiTransport.NEVER);
        if (how != RpcResult.OK || request.remoteCode() != 0) {
            String why = how == RpcResult.OK ? " " + RpcResult.ofCode(request.remoteCode()) : "";
            throw new RpcException(how, request.remoteCode(), what + why);
        }
    }

    /** Results that came when nobody waited for them any more. */
    public long lateCount() {
        return lateCount;
    }

    /** Results that were fetched, because they did not fit into a message. */
    public long longResultCount() {
        return longResultCount;
    }

    /** When something is due although nothing comes; {@code Long.MAX_VALUE}: never. */
    long nextDeadlineNs() {
        long now = active.isEmpty() ? 0 : transport.transport().nanoTime();
        long earliest = Long.MAX_VALUE;
        for (int i = 0; i < active.size(); i++) {
            earliest = RpcEndpoint.earlier(earliest, active.get(i).deadlineNs(now));
        }
        return earliest;
    }

    void close() {
        for (int i = active.size() - 1; i >= 0; i--) {
            end(active.get(i), RpcResult.ECANCELED, 0);
        }
        longArgs.close();
        longResults.close();
    }
}
