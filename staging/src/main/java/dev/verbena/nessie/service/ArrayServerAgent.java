package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.NntiOptions;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.concurrent.AgentTerminationException;

/** The duty cycle of a server: remote procedures, the listener for TCP, files. One thread. */
final class ArrayServerAgent implements ProtocolAgent {
    private static final String LOCK = "lock";

    /** More than can wait, so that there is room for those that need not. */
    private static final int PENDING_MAX = 2 * ArrayEngine.WAITING_MAX;

    private final Environment environment;
    private final Transport transport;
    private final String directory;
    private final ArrayServerOptions options;
    private final AgentHost host;
    private volatile Runnable wakeup = () -> {};
    private volatile String url;
    private volatile int port = -1;
    private volatile boolean hasEnded;
    private RpcEndpoint endpoint;
    private RpcServer server;
    private DurableStore files;
    private AutoCloseable lock;
    private ArrayStore store;
    private ArrayEngine engine;
    private TcpListener listener;

    ArrayServerAgent(
            Environment environment,
            Transport transport,
            String directory,
            ArrayServerOptions options,
            AgentHost host) {
        this.environment = environment;
        this.transport = transport;
        this.directory = directory;
        this.options = options;
        this.host = host;
    }

    @Override
    public void onStart() {
        try {
            NntiTransport network = new NntiTransport(transport, NntiOptions.ONE_SIDED);
            endpoint = new RpcEndpoint(network, environment.errorHandler());
            openFiles();
            store = new ArrayStore(files, new PieceMemory(network, options.memoryMax()), options);
            new Recovery(files, options, environment.errorHandler()).run(store);
            engine = new ArrayEngine(store, new Slots(network), options, environment.nanoClock());
            if (options.port() >= 0) {
                listener =
                        new TcpListener(
                                environment.streams(), options, engine, environment.nanoClock());
                port = listener.port();
            }
            serve();
            url = network.url();
        } catch (RuntimeException e) {
            host.failed(e);
            throw new AgentTerminationException(e);
        }
        host.changed();
    }

    private void openFiles() {
        files = environment.store(directory);
        files.onReady(() -> wakeup.run());
        lock = files.tryLock(LOCK, 0);
        if (lock == null) {
            throw new ArrayException(
                    ArrayStatus.FAILED, "another server has the directory " + directory);
        }
    }

    private void serve() {
        server = endpoint.serve(rpcOptions());
        for (int operation = Requests.PUT; operation <= Requests.OPEN; operation++) {
            int code = operation;
            server.register(
                    code,
                    ArrayRequest::new,
                    call -> {
                        ArrayRequest request = (ArrayRequest) call.args();
                        engine.onRequest(code, request, new RpcCaller(call));
                    });
        }
    }

    private static RpcServerOptions rpcOptions() {
        RpcServerOptions usual = RpcServerOptions.DEFAULT;
        return new RpcServerOptions(
                PENDING_MAX,
                0,
                usual.requestsMax(),
                1 << 16,
                0,
                0,
                usual.fetchTimeoutNs(),
                usual.progressNs(),
                usual.order());
    }

    /** How others end its sleep. */
    void wakeWith(Runnable action) {
        wakeup = action;
    }

    boolean isStarted() {
        return url != null;
    }

    String url() {
        return url;
    }

    int port() {
        return port;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    @Override
    public int doWork() {
        int work = endpoint.doWork() + engine.doWork();
        work += listener == null ? 0 : listener.doWork();
        if (server.isDone()) {
            throw new AgentTerminationException("a client has ended the server");
        }
        return work;
    }

    @Override
    public long nextDeadlineNs() {
        long ofCalls = endpoint == null ? NO_DEADLINE : endpoint.nextDeadlineNs();
        long ofEngine = engine == null ? NO_DEADLINE : engine.nextDeadlineNs();
        if (ofCalls == NO_DEADLINE || ofEngine == NO_DEADLINE) {
            return ofCalls == NO_DEADLINE ? ofEngine : ofCalls;
        }
        return ofCalls - ofEngine < 0 ? ofCalls : ofEngine;
    }

    @Override
    public void onClose() {
        CloseHelper.quietCloseAll(listener, store);
        if (endpoint == null) {
            transport.close();
        } else {
            endpoint.close();
        }
        CloseHelper.quietCloseAll(lock, files);
        hasEnded = true;
        host.changed();
    }

    @Override
    public String roleName() {
        return "array-server";
    }
}
