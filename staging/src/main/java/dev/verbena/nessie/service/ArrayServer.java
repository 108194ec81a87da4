package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.RequestOrder;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;

/** An array server on a thread of its own. Thread-safe. */
public final class ArrayServer implements AutoCloseable {
    /** More requests than can wait, so that there is room for those that need not. */
    private static final int ROOM = 2 * ArrayEngine.WAITING_MAX;

    static final RpcServerOptions OPTIONS =
            new RpcServerOptions(
                    ROOM, 0, -1, 1 << 16, 0, 0, 10_000_000_000L, 100_000_000L, RequestOrder.FIFO);

    private final Part part;
    private final NessieServer server;

    private ArrayServer(Part part, Transport transport) {
        this.part = part;
        NessieServer.Builder builder = NessieServer.builder(part.environment, transport);
        builder.part(part).options(OPTIONS);
        for (int code = ArrayConstants.PUT; code <= ArrayConstants.OPEN; code++) {
            builder.on(code, ArrayRequest::new, part::onCall);
        }
        this.server = builder.start();
    }

    /**
     * Starts a server, and waits until it can be called: the sealed versions in its directory are
     * there again.
     *
     * @param environment for clock, files, TCP and errors; not closed by the server
     * @param transport not used by any thread yet; closed by the server, also if this throws
     * @param path a directory of this server alone; made if absent
     * @throws RuntimeException naming what is wrong, for example that another server has the
     *     directory
     */
    public static ArrayServer start(
            Environment environment, Transport transport, String path, ArrayServerOptions options) {
        return new ArrayServer(new Part(environment, path, options), transport);
    }

    /** Where clients find it. */
    public String url() {
        return server.url();
    }

    /** Port of its listener for TCP; -1: it has none. */
    public int port() {
        return part.port;
    }

    /** The signal by which a client has ended it, 0 in order, -1 by an error; null: it runs. */
    public Integer exitCode() {
        return server.exitCode();
    }

    /** Ends the thread and closes the transport; requests under way fail. */
    @Override
    public void close() {
        server.close();
    }

    /** The arrays, their files, and the listener for TCP. One thread, but for the fields read. */
    static final class Part implements NessieServer.Part {
        private final Environment environment;
        private final String directory;
        private final ArrayServerOptions options;
        private DurableStore files;
        private AutoCloseable lock;
        private ArrayStore store;
        private ArrayEngine engine;
        private TcpListener listener;
        private AutoCloseable wakeups;
        volatile int port = -1;

        Part(Environment environment, String directory, ArrayServerOptions options) {
            this.environment = environment;
            this.directory = directory;
            this.options = options;
        }

        @Override
        public void onStart(NntiTransport network) {
            files = environment.store(directory);
            files.onReady(network::wakeup);
            lock = files.tryLock("lock", 0);
            if (lock == null) {
                throw new ArrayException(
                        ArrayStatus.FAILED, "another server has the directory " + directory);
            }
            store = new ArrayStore(files, new PieceMemory(network, options.memoryMax()), options);
            new Recovery(files, options, environment.errorHandler()).run(store);
            engine = new ArrayEngine(store, new Slots(network), options, environment.nanoClock());
            if (options.port() >= 0) {
                wakeups = environment.streams().onReady(network::wakeup);
                listener = new TcpListener(environment, options, engine);
                port = listener.port();
            }
        }

        void onCall(RpcCall call) {
            engine.onRequest(call.opcode(), (ArrayRequest) call.args(), new Caller.OfRpc(call));
        }

        @Override
        public int doWork() {
            return engine.doWork() + (listener == null ? 0 : listener.doWork());
        }

        /**
         * Requests that wait for other clients are refused after a quarter minute. Clients over TCP
         * have half a minute for all: some read slowly.
         */
        @Override
        public boolean tryEnd() {
            boolean isLate = engine.end() > TcpConnection.STALL_NS;
            return isLate || listener == null || listener.isIdle();
        }

        @Override
        public long nextDeadlineNs() {
            return engine.nextDeadlineNs();
        }

        /** What is under way fails when the network ends, and finds no file any more. */
        @Override
        public void onClose() {
            CloseHelper.quietCloseAll(wakeups, listener, store, files, lock);
        }
    }
}
