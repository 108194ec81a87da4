package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.server.ServerEngine;
import dev.verbena.staging.Arguments;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * A service server: the master, which publishes the configuration file and assigns compute
 * processes in turn, or a slave. Pulls data out of the processes it serves and streams them to the
 * receiver.
 *
 * <p>{@link #launch} runs it on threads; {@link #embed} leaves its agents to the caller. Methods
 * are thread-safe.
 */
public final class DartServer implements AutoCloseable {
    /** What a master opens that was told no transport: every program with DART has it. */
    public static final String TRANSPORT_DEFAULT = "shm";

    private final ServerEngine engine;

    private DartServer(Context context) {
        engine = new ServerEngine(context.settings());
    }

    /** Starts a server on threads of its own. Returns at once: see {@link #awaitReady}. */
    public static DartServer launch(Context context) {
        DartServer server = embed(context);
        server.engine.startThreads();
        return server;
    }

    /** A server whose {@link #agents()} the caller runs. */
    public static DartServer embed(Context context) {
        return new DartServer(context);
    }

    /** t1, t2 and t3; each on one thread, all on one or each on its own. */
    public List<ProtocolAgent> agents() {
        return engine.agents();
    }

    /**
     * Waits until compute processes can register: a master has published its file, a slave is
     * registered.
     *
     * @throws DartException why it cannot get there, or {@link DartException.Code#TIMEOUT}
     */
    public void awaitReady(long timeoutNs) {
        engine.awaitReady(timeoutNs);
    }

    /** True once ready and until stopping. */
    public boolean isReady() {
        return engine.isReady();
    }

    /** Address of the transport; null before the server is ready. */
    public URI uri() {
        return engine.uri();
    }

    /** 0 for the master, -1 for a slave that is not registered yet. */
    public int serverId() {
        return engine.serverId();
    }

    /**
     * Identity of this run of the service; null before it is known. Not the job, which is the name
     * that the processes of a program share, see {@code TransportContext.job}.
     */
    public UUID serviceId() {
        return engine.job();
    }

    /** Compute processes served by this server now. */
    public int clientCount() {
        return engine.clientCount();
    }

    /** Counts of what happened since the start. */
    public ServerStatistics statistics() {
        return engine.statistics();
    }

    /** What this server has on its own disk because the receiver did not take it. */
    public SpillStatistics spill() {
        return engine.spill();
    }

    /** Where the time of the data went on this server. */
    public ServerTimes times() {
        return engine.times();
    }

    /** Begins a graceful stop: refuses new headers, drains, says goodbye to the receiver. */
    public void requestStop() {
        engine.requestStop();
    }

    /**
     * Ends at once, without waiting for the receiver: what was taken and not delivered is lost, is
     * reported message by message, and can be asked for with {@link #lostMessages()} after {@link
     * #close()}. Processes are told that the server stops, as far as that is possible.
     */
    public void stopNow() {
        engine.stopNow();
    }

    /**
     * A message that was taken and not delivered when the server ended.
     *
     * @param name as its sender gave it; empty if it gave none
     */
    public record LostMessage(int clientId, long sequence, String name) {
        @Override
        public String toString() {
            String whose = "message " + sequence + " of client " + clientId;
            return name.isEmpty() ? whose : "'" + name + "' (" + whose + ")";
        }
    }

    /** What an end before everything was delivered has lost; complete after {@link #close()}. */
    public List<LostMessage> lostMessages() {
        return engine.lostMessages();
    }

    /** Averages of what processes reported to this server. */
    public DartTimings timings() {
        return engine.timings();
    }

    /**
     * Waits until the user of every server that lives has called this: a barrier over all servers.
     * Servers that died do not count; those that were never there do. After a timeout the next call
     * enters the same barrier again. One caller at a time.
     *
     * @throws DartException {@link DartException.Code#TIMEOUT}, at the master naming the servers
     *     that are missing; {@link DartException.Code#SERVER_UNREACHABLE} if the master is gone
     * @throws IllegalStateException if the server is not ready
     */
    public void barrier(long timeoutNs) {
        engine.barrier(timeoutNs);
    }

    /**
     * Waits for the end of a launched server.
     *
     * @return false if it is still running
     */
    public boolean awaitStopped(long timeoutNs) {
        return engine.awaitStopped(timeoutNs);
    }

    /** Why the server ended by itself; null if it did not. */
    public Throwable failure() {
        return engine.failure();
    }

    /** Graceful stop within {@code closeTimeoutNs}, then the end; idempotent. */
    @Override
    public void close() {
        engine.close();
    }

    /** How to run a server. Fluent; checked when it is used. */
    public static final class Context extends ServiceContext<Context> {
        private boolean isMaster = true;
        private boolean isLegacyFile;
        private boolean isDedicatedThreads;
        private long pollNs;

        /**
         * Long parts are pulled in pieces of this length: short enough that one is still in the
         * nearest cache when it is summed up.
         */
        int pieceLength = 256 * 1024;

        private boolean isDiscarding;
        private String receiverHost = "";
        private int receiverPort;
        private URI receiverAddress;
        private int serverCount = 1;
        private int clientCount;
        private int clientsMax = 256;
        private int bufferCount;
        private int bufferSize = 4 * 1024 * 1024;
        private int framePayloadMax = 1024 * 1024;
        private int creditsPerClient = 64;
        private AckMode ack = AckMode.DELIVERED;
        private long heartbeatNs = 1_000_000_000L;
        private final Int2ObjectHashMap<DartCommandHandler> commandHandlers =
                new Int2ObjectHashMap<>();
        private boolean isStoppableByClients;
        private boolean isDelegating;
        private long receiverTimeoutNs = 10_000_000_000L;
        private byte[] secret;
        private String sinkDirectory = "";
        private DartMessageHandler sinkHandler;
        private String spillDirectory = "";
        private long spillLimit;

        /** Everything at its default. */
        public Context() {}

        /** This is the master (default). */
        public Context master() {
            this.isMaster = true;
            return this;
        }

        /** This is a slave. */
        public Context slave() {
            this.isMaster = false;
            return this;
        }

        /**
         * Write the two-line configuration file; the service's id is then not checked. Master only.
         */
        public Context legacyFile(boolean isLegacyFile) {
            this.isLegacyFile = isLegacyFile;
            return this;
        }

        /**
         * Answers commands of this type, see {@link DartClient#command}; one handler for each type.
         *
         * @throws IllegalArgumentException for a negative type
         */
        public Context commandHandler(int type, DartCommandHandler handler) {
            Arguments.range("type", type, 0, Integer.MAX_VALUE);
            Arguments.notNull("handler", handler);
            commandHandlers.put(type, handler);
            return this;
        }

        /** Let processes stop all servers, see {@link DartClient#stopServers}; off. */
        public Context stoppableByClients(boolean isStoppableByClients) {
            this.isStoppableByClients = isStoppableByClients;
            return this;
        }

        /**
         * Let slaves pull what the processes of this master send: it takes their headers and
         * answers them, but moves no data, as long as there is a slave. Master only; off.
         */
        public Context delegate(boolean isDelegating) {
            this.isDelegating = isDelegating;
            return this;
        }

        /** Three threads instead of one. */
        public Context dedicatedThreads(boolean isDedicatedThreads) {
            this.isDedicatedThreads = isDedicatedThreads;
            return this;
        }

        /**
         * How long the server may sleep before it looks for headers by itself, nanoseconds, 20
         * microseconds to 100 ms. Nobody wakes it then: a process never pays for that, which takes
         * microseconds where a processor was halted, and a header is seen as much later. 0, the
         * default: it sleeps until it is woken.
         */
        public Context pollNs(long pollNs) {
            this.pollNs = pollNs;
            return this;
        }

        /** Where the data go. */
        public Context receiver(String host, int port) {
            this.receiverHost = host;
            this.receiverPort = port;
            this.receiverAddress = null;
            return this;
        }

        /**
         * Where the data go: to a receiver that listens at this address with a transport, see
         * {@link DartReceiver.Context#listen(URI)}. They are put there, over a transport that the
         * server opens for it, with a thread of its own. {@code tcp://host:port} means TCP.
         *
         * @param address as {@link DartReceiver#address()} says
         * @throws IllegalArgumentException for an address without a scheme
         */
        public Context receiver(URI address) {
            if (TcpAddress.isTcp(address)) {
                return receiver(address.getHost(), address.getPort());
            }
            this.receiverHost = "";
            this.receiverPort = 0;
            this.receiverAddress = address;
            return this;
        }

        /** Throw the data away instead of streaming them: for bandwidth tests. */
        public Context discard(boolean isDiscarding) {
            this.isDiscarding = isDiscarding;
            return this;
        }

        /**
         * Give data only to a receiver that proves to know this secret, and prove the same to it,
         * see {@link DartReceiver.Context#secret}. Copied. Read it with {@link
         * dev.verbena.agent.SecretFile}.
         *
         * @param secret at least 16 bytes that nobody can guess
         * @throws IllegalArgumentException if it is shorter
         */
        public Context secret(byte[] secret) {
            this.secret = Arguments.copyOfSecret(secret);
            return this;
        }

        /**
         * Puts what the receiver does not take onto a disk: while it is away, and while every
         * buffer waits for it. Processes can then register and send without a receiver; what was
         * forced to the device is delivered in order and once when the receiver is back, also by
         * the next server with this directory if this one is killed. Beyond the limit, or while the
         * device is full or fails, processes wait as without. Several servers may share a
         * directory.
         *
         * @param directory created if absent; empty (default): nothing is spilled
         * @param limit bytes of files of this server, with what it found; at least 1 MiB and four
         *     times {@code bufferSize}
         */
        public Context spill(String directory, long limit) {
            this.spillDirectory = directory;
            this.spillLimit = limit;
            return this;
        }

        /**
         * Stores messages as files on this machine instead of streaming them to a receiver: what
         * {@link DartReceiver.Context#directory} does with them, without a network, and with {@code
         * client-ID.} before each name. Acknowledged when forced to the device. A line of JSON says
         * what is in each file, see {@link DartReceiver.Context#describe}. Each server needs a
         * directory of its own; a process has nobody from whom messages could come back.
         *
         * @param handler gets every message once it is stored, on the server's thread; null: nobody
         */
        public Context fileSink(String directory, DartMessageHandler handler) {
            this.sinkDirectory = directory;
            this.sinkHandler = handler;
            return this;
        }

        /**
         * Servers expected, the master included; processes wait until all are there. Master only.
         */
        public Context serverCount(int serverCount) {
            this.serverCount = serverCount;
            return this;
        }

        /** Compute processes expected; 0: unknown. Sets the default of {@link #bufferCount}. */
        public Context clientCount(int clientCount) {
            this.clientCount = clientCount;
            return this;
        }

        /** Most compute processes that this server takes; 256. */
        public Context clientsMax(int clientsMax) {
            this.clientsMax = clientsMax;
            return this;
        }

        /** Buffers; 0 (default): three for two expected processes, rounded up, at least 3. */
        public Context bufferCount(int bufferCount) {
            this.bufferCount = bufferCount;
            return this;
        }

        /** Bytes of a buffer; 4 MiB. Longer messages use several. */
        public Context bufferSize(int bufferSize) {
            this.bufferSize = bufferSize;
            return this;
        }

        /** Longest payload of a frame to the receiver; 1 MiB, which is also the most. */
        public Context framePayloadMax(int framePayloadMax) {
            this.framePayloadMax = framePayloadMax;
            return this;
        }

        /** Headers that a client may have outstanding, whatever it asks for; 64. */
        public Context creditsPerClient(int creditsPerClient) {
            this.creditsPerClient = creditsPerClient;
            return this;
        }

        /**
         * {@link AckMode#NONE}: a buffer is free once written to the socket (loses data on a broken
         * connection). Otherwise the receiver decides what its acknowledgement means.
         */
        public Context ack(AckMode ack) {
            this.ack = ack;
            return this;
        }

        /**
         * After this long of silence a process that uses its client asks whether this server lives,
         * 1 ms to 1 h; 1 s. It asks only while it has nothing else to do, and never when this is 0.
         */
        public Context heartbeatNs(long heartbeatNs) {
            this.heartbeatNs = heartbeatNs;
            return this;
        }

        /** After this long of silence the receiver's connection is given up and made anew; 10 s. */
        public Context receiverTimeoutNs(long receiverTimeoutNs) {
            this.receiverTimeoutNs = receiverTimeoutNs;
            return this;
        }

        /** The receiver that stores files on this machine. */
        private ReceiverSettings sink(Environment its) {
            DartReceiver.Context receiving =
                    new DartReceiver.Context()
                            .environment(its)
                            .directory(sinkDirectory)
                            .handler(sinkHandler)
                            .namesOfClients();
            if (secret != null) {
                receiving.secret(secret);
            }
            return receiving.settings();
        }

        ServerSettings settings() {
            return new ServerSettings(
                    service(isMaster ? TRANSPORT_DEFAULT : ""),
                    isMaster,
                    isLegacyFile,
                    isDedicatedThreads,
                    pollNs,
                    pieceLength,
                    isDiscarding,
                    receiverHost,
                    receiverPort,
                    receiverAddress,
                    serverCount,
                    clientCount,
                    clientsMax,
                    bufferCount,
                    bufferSize,
                    framePayloadMax,
                    creditsPerClient,
                    ack,
                    heartbeatNs,
                    commandHandlers,
                    isStoppableByClients,
                    isDelegating,
                    receiverTimeoutNs,
                    secret,
                    sinkDirectory,
                    this::sink,
                    spillDirectory,
                    spillLimit);
        }
    }
}
