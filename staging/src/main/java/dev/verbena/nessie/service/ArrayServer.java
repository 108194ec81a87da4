package dev.verbena.nessie.service;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.rpc.RpcServer;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.concurrent.AgentTerminationException;

/** An array server on a thread of its own. Thread-safe. */
public final class ArrayServer implements AutoCloseable {
    private static final long START_NS = 60_000_000_000L;
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

    private ArrayServer(
            Environment environment,
            Transport transport,
            String directory,
            ArrayServerOptions options) {
        this.environment = environment;
        this.transport = transport;
        this.directory = directory;
        this.options = options;
        this.host =
                new AgentHost(
                        environment, (text, cause) -> new ArrayException(ArrayStatus.FAILED, text));
    }

    /**
     * Starts a server, and waits until it can be called: the sealed versions in its directory are
     * there again.
     *
     * @param environment for clock, files, TCP and errors; not closed by the server
     * @param transport not used by any thread yet; closed by the server, also if this throws
     * @param directory of this server alone; made if absent
     * @throws RuntimeException naming what is wrong, for example that another server has the
     *     directory
     */
    public static ArrayServer start(
            Environment environment,
            Transport transport,
            String directory,
            ArrayServerOptions options) {
        ArrayServer server = new ArrayServer(environment, transport, directory, options);
        try {
            server.start();
            return server;
        } catch (RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private void start() {
        AgentThread thread =
                host.start(
                        AgentThread.builder("array-server", environment)
                                .agent(new Loop())
                                .transport(() -> transport)
                                .wakeOnStreams());
        wakeup = thread::wakeup;
        host.await(() -> url != null || host.failure() != null, START_NS);
        if (host.failure() instanceof RuntimeException why) {
            throw why;
        } else if (url == null) {
            throw new ArrayException(ArrayStatus.FAILED, directory + " was not read in time");
        }
    }

    /** Where clients find it. */
    public String url() {
        return url;
    }

    /** Port of its listener for TCP; -1: it has none. */
    public int port() {
        return port;
    }

    /** Whether a client has ended it. */
    public boolean hasEnded() {
        return hasEnded;
    }

    /** Ends the thread and closes the transport; requests under way fail. */
    @Override
    public void close() {
        host.close();
    }

    /** The duty cycle: remote procedures, the listener for TCP, files. One thread. */
    private final class Loop implements ProtocolAgent {
        private RpcEndpoint endpoint;
        private RpcServer server;
        private DurableStore files;
        private AutoCloseable lock;
        private ArrayStore store;
        private ArrayEngine engine;
        private TcpListener listener;

        @Override
        public void onStart() {
            try {
                endpoint = RpcEndpoint.over(transport, environment.errorHandler());
                NntiTransport network = endpoint.transport();
                openFiles();
                PieceMemory memory = new PieceMemory(network, options.memoryMax());
                store = new ArrayStore(files, memory, options);
                new Recovery(files, options, environment.errorHandler()).run(store);
                engine =
                        new ArrayEngine(
                                store, new Slots(network), options, environment.nanoClock());
                if (options.port() >= 0) {
                    listener = new TcpListener(environment, options, engine);
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
            RpcServerOptions usual = RpcServerOptions.DEFAULT;
            server =
                    endpoint.serve(
                            new RpcServerOptions(
                                    PENDING_MAX,
                                    0,
                                    usual.requestsMax(),
                                    1 << 16,
                                    0,
                                    0,
                                    usual.fetchTimeoutNs(),
                                    usual.progressNs(),
                                    usual.order()));
            for (int code = Requests.PUT; code <= Requests.OPEN; code++) {
                server.register(
                        code,
                        ArrayRequest::new,
                        call ->
                                engine.onRequest(
                                        call.opcode(),
                                        (ArrayRequest) call.args(),
                                        new RpcCaller(call)));
            }
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
            return RpcEndpoint.earlier(endpoint.nextDeadlineNs(), engine.nextDeadlineNs());
        }

        @Override
        public void onClose() {
            CloseHelper.quietCloseAll(listener, store);
            CloseHelper.close(endpoint == null ? transport : endpoint);
            CloseHelper.quietCloseAll(lock, files);
            hasEnded = true;
            host.changed();
        }

        @Override
        public String roleName() {
            return "array-server";
        }
    }
}
