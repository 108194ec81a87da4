package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.receiver.ReceiverEngine;
import dev.verbena.dart.wire.PieceFlyweight;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.sink.Sink;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where the data arrive: accepts the servers' streams, puts messages together, stores them if told
 * to, hands them to the consumer and acknowledges. Methods are thread-safe.
 */
public final class DartReceiver implements AutoCloseable {
    /** File of a directory that says what lies there, see {@link Context#describe}. */
    public static final String DESCRIPTIONS = ".verbena-messages.jsonl";

    /**
     * Property of a message for a sink: elements of the whole array in each dimension, the slowest
     * first, as {@code 400,100}. See {@link Context#sink}.
     */
    public static final String GLOBAL_PROPERTY = "global";

    /** Property of a message for a sink: where it begins in the whole array, as {@code 0,100}. */
    public static final String START_PROPERTY = "start";

    /** {@link #send} and others: taken; it will be delivered if the process lives. */
    public static final int ACCEPTED = 0;

    /** Not taken now: too much waits for this process, or for one of them. */
    public static final int BACK_PRESSURED = -1;

    /** Not taken: no such process has an inbox now, see {@link DartClient.Context#inbox}. */
    public static final int NO_SUCH_PROCESS = -2;

    /** Not taken: this receiver is closed. */
    public static final int CLOSED = -3;

    /** Memory for commands on their way out. */
    private final UnsafeBuffer steering = new UnsafeBuffer(new byte[DartSteering.LENGTH_MAX]);

    private final ReceiverEngine engine;
    private final String host;

    private DartReceiver(Context context) {
        host = context.host;
        engine = new ReceiverEngine(context.settings());
    }

    /**
     * Starts a receiver on a thread of its own; it listens when this returns.
     *
     * @throws java.io.UncheckedIOException if the address cannot be bound
     */
    public static DartReceiver launch(Context context) {
        DartReceiver receiver = embed(context);
        receiver.engine.startThread();
        return receiver;
    }

    /** A receiver whose {@link #agent()} the caller runs. */
    public static DartReceiver embed(Context context) {
        return new DartReceiver(context);
    }

    /** The agent that does everything, handler calls included. */
    public ProtocolAgent agent() {
        return engine;
    }

    /** Port listened on; 0 of a transport whose addresses have none. */
    public int port() {
        return engine.port();
    }

    /** Where servers find it: {@code tcp://host:port}, or the address of its transport. */
    public URI address() {
        URI carried = engine.address();
        return carried == null ? TcpAddress.of(host, port()) : carried;
    }

    /** Counts of what happened since the start. */
    public ReceiverStatistics statistics() {
        return engine.statistics();
    }

    /**
     * Sends a message to a compute process, over its server, into its inbox. Never waits; copies.
     * Messages to one process arrive in the order sent, each once, also when connections break in
     * between; a process that is started anew under the same rank goes on with what its predecessor
     * has not taken whole. A process can be sent to from the moment when a message of it is
     * received, if not before. When its server is lost, it is no such process any more after {@link
     * Context#silenceTimeoutNs}. With several jobs the latest process of that rank is meant.
     *
     * @param type the user's, given to {@link DartReverseHandler#onMessage}
     * @param length bytes, from 0 to {@link Context#reverseBytesMax}
     * @return {@link #ACCEPTED}, {@link #BACK_PRESSURED}, {@link #NO_SUCH_PROCESS} or {@link
     *     #CLOSED}
     * @throws IllegalArgumentException if the message is too long
     */
    public int send(
            int applicationId, int rank, int type, DirectBuffer buffer, int offset, int length) {
        return engine.reverse()
                .send(applicationId, rank, PieceFlyweight.DATA, type, buffer, offset, length);
    }

    /**
     * As {@link #send} to every process of an application that has an inbox now; to all or to none
     * of them.
     */
    public int sendToAll(int applicationId, int type, DirectBuffer buffer, int offset, int length) {
        return engine.reverse()
                .sendToAll(applicationId, PieceFlyweight.DATA, type, buffer, offset, length);
    }

    /** Sends a command as {@link #send} sends a message; in order with these. */
    public int steer(int applicationId, int rank, DartSteering command) {
        synchronized (steering) {
            int length = command.encode(steering, 0);
            return engine.reverse()
                    .send(
                            applicationId,
                            rank,
                            PieceFlyweight.STEERING,
                            command.code(),
                            steering,
                            0,
                            length);
        }
    }

    /** Sends a command as {@link #sendToAll} sends a message; in order with these. */
    public int steerAll(int applicationId, DartSteering command) {
        synchronized (steering) {
            int length = command.encode(steering, 0);
            return engine.reverse()
                    .sendToAll(
                            applicationId,
                            PieceFlyweight.STEERING,
                            command.code(),
                            steering,
                            0,
                            length);
        }
    }

    /** Whether a process of this rank has an inbox now, as far as its server has said. */
    public boolean isHere(int applicationId, int rank) {
        return engine.reverse().isHere(applicationId, rank);
    }

    /** What was sent back to compute processes since the start. */
    public ReverseStatistics reverseStatistics() {
        return engine.reverse().statistics();
    }

    /**
     * What became of steps since the start.
     *
     * @throws IllegalStateException if no steps are put together
     */
    public StepStatistics stepStatistics() {
        return engine.stepStatistics();
    }

    /**
     * What the sink has.
     *
     * @throws IllegalStateException if there is none
     */
    public SinkStatistics sinkStatistics() {
        return engine.sinkStatistics();
    }

    /**
     * Waits until as many servers have finished in order (all of their data is here, they were
     * stopped) as this.
     *
     * @return false if they have not within the time, or the receiver ended by itself
     */
    public boolean awaitFinished(int serverCount, long timeoutNs) {
        return engine.awaitFinished(serverCount, timeoutNs);
    }

    /** Why the receiver ended by itself; null if it did not. */
    public Throwable failure() {
        return engine.failure();
    }

    /** Ends; what was not acknowledged stays with the servers. Idempotent. */
    @Override
    public void close() {
        engine.close();
    }

    /** How to receive. Fluent; checked when it is used. */
    public static final class Context {
        private Environment environment;
        private String host = "127.0.0.1";
        private int port;
        private URI address;
        private String directory = "";
        private DartMessageHandler handler;
        private DartStepContext steps;
        private DartLostHandler lostHandler;
        private AckMode ack;
        private boolean isKeepingBoth;
        private boolean isReplacing;
        private boolean isDescribing = true;
        private boolean isAcceptingGaps;
        private int messageLengthMax = -1;
        private int connectionsMax = 64;
        private long helloTimeoutNs = 5_000_000_000L;
        private long windowMax = 1L << 40;
        private long unfinishedBytesMax;
        private long halfKeptNs = 7 * 24 * 3_600_000_000_000L;
        private long reverseBytesMax = 16L << 20;
        private long silenceTimeoutNs = 10_000_000_000L;
        private byte[] secret;
        private boolean isNamingClients;
        private Sink sink;
        private int sinkSenders = 4;

        /** Everything at its default. */
        public Context() {}

        /** Everything the receiver touches. */
        public Context environment(Environment environment) {
            this.environment = environment;
            return this;
        }

        /** Address to listen on; loopback unless told otherwise. Port 0 (default): any. */
        public Context listen(String host, int port) {
            this.host = host;
            this.port = port;
            this.address = null;
            return this;
        }

        /**
         * Address to listen on with a transport instead of TCP: {@code shm://job/name}, {@code
         * ofi://host:port?provider=tcp}, ... Port 0, or no name: any, see {@link
         * DartReceiver#address()}. {@code tcp://host:port} means TCP.
         *
         * @throws IllegalArgumentException for an address without a scheme
         */
        public Context listen(URI address) {
            if (TcpAddress.isTcp(address)) {
                return listen(address.getHost(), address.getPort());
            }
            this.address = address;
            return this;
        }

        /**
         * Store every message's payload as a file here. The receiver also keeps its state here, in
         * files whose names begin with {@code .receiving-}: one that is started on the directory of
         * another that was killed goes on where that one was. One receiver at a time.
         */
        public Context directory(String directory) {
            this.directory = directory;
            return this;
        }

        /** Names of files begin with the number of the client. */
        Context namesOfClients() {
            isNamingClients = true;
            return this;
        }

        /**
         * Is told of each compute process that its server loses; default: nobody, beside the error
         * handler of the environment ({@link DartException.Code#PROCESS_LOST}).
         */
        public Context lostHandler(DartLostHandler lostHandler) {
            this.lostHandler = lostHandler;
            return this;
        }

        /** Put whole steps together, beside what is done with each message. */
        public Context steps(DartStepContext steps) {
            this.steps = steps;
            return this;
        }

        /** Gets every message. */
        public Context handler(DartMessageHandler handler) {
            this.handler = handler;
            return this;
        }

        /**
         * When to acknowledge: {@link AckMode#DURABLE} (default with a directory), or {@link
         * AckMode#DELIVERED} (default without).
         */
        public Context ack(AckMode ack) {
            this.ack = ack;
            return this;
        }

        /**
         * A message whose file name exists: true adds {@code .client-sequence} to the name,
         * whatever is in the file, and promises every name in the journal before; false (default):
         * see {@link #replace}.
         */
        public Context keepBoth(boolean isKeepingBoth) {
            this.isKeepingBoth = isKeepingBoth;
            return this;
        }

        /**
         * Keep a line of JSON about each stored message in the file {@link #DESCRIPTIONS} of the
         * directory: its file, name, variable, rank, step, element type, shape, bytes, checksum,
         * time and properties. After a kill the last lines may be missing, none is wrong. On where
         * there is a directory.
         */
        public Context describe(boolean isDescribing) {
            this.isDescribing = isDescribing;
            return this;
        }

        /**
         * Let a message replace a file of the same name in the directory, whoever stored it. Off:
         * only one with the same bytes is replaced; beside another one the message gets a name with
         * {@code .CLIENT-SEQUENCE} at its end, and that is reported.
         */
        public Context replace(boolean isReplacing) {
            this.isReplacing = isReplacing;
            return this;
        }

        /**
         * What to do when a server has given away data that this receiver does not have, because an
         * earlier receiver with another directory, or with none, acknowledged them: true goes on
         * behind them and reports what is lost; false (default) refuses until the receiver is
         * started on the right directory.
         */
        public Context acceptGaps(boolean isAcceptingGaps) {
            this.isAcceptingGaps = isAcceptingGaps;
            return this;
        }

        /**
         * Longest message that is put together in memory for the handler; 1 GiB, or half of the
         * heap if that is less.
         */
        public Context messageLengthMax(int messageLengthMax) {
            Arguments.range("messageLengthMax", messageLengthMax, 0, Integer.MAX_VALUE - 4096);
            this.messageLengthMax = messageLengthMax;
            return this;
        }

        /**
         * Most memory for messages that are half received, of all servers; 0 (default): a quarter
         * of the heap. What is beyond is put aside if it has a file, and read again with its next
         * frame; where the disk is slower than the servers, these wait before it is twice as much,
         * with what is being stored. Without a directory what servers have left behind that are not
         * connected is given up when its server has been away for {@link #silenceTimeoutNs}, and
         * connected servers wait before it is twice as much; if next to nothing comes for that long
         * while one waits, the server with most of it loses its half messages. These are reported
         * by name, and their server is refused unless {@link #acceptGaps} is set.
         */
        public Context unfinishedBytesMax(long unfinishedBytesMax) {
            this.unfinishedBytesMax = unfinishedBytesMax;
            return this;
        }

        /**
         * How long what is half received of a server is kept that is not connected; 7 days, since
         * the start of this receiver for what an earlier one has left. Then the server is
         * forgotten, and named; when it comes back it is told of a gap.
         */
        public Context halfKeptNs(long halfKeptNs) {
            this.halfKeptNs = halfKeptNs;
            return this;
        }

        /** Most bytes that one server may have unacknowledged. */
        public Context windowMax(long windowMax) {
            this.windowMax = windowMax;
            return this;
        }

        /**
         * Most bytes that may wait for one compute process, and the longest message to one; 16 MiB.
         */
        public Context reverseBytesMax(long reverseBytesMax) {
            this.reverseBytesMax = reverseBytesMax;
            return this;
        }

        /**
         * Most servers connected at a time; 64. As many connections again may be open that have not
         * said yet who they are; when there are more, the one of these that came first is ended.
         */
        public Context connectionsMax(int connectionsMax) {
            this.connectionsMax = connectionsMax;
            return this;
        }

        /**
         * How long a connection may take to say who it is, and to prove it where there is a secret;
         * 5 s from when it is accepted, however it is spread over that time.
         */
        public Context helloTimeoutNs(long helloTimeoutNs) {
            this.helloTimeoutNs = helloTimeoutNs;
            return this;
        }

        /**
         * Take data only from servers that prove to know this secret, and prove the same to them,
         * see {@link DartServer.Context#secret}. Copied. Read it with {@link
         * dev.verbena.agent.SecretFile}.
         *
         * @param secret at least 16 bytes that nobody can guess
         * @throws IllegalArgumentException if it is shorter
         */
        public Context secret(byte[] secret) {
            this.secret = Arguments.copyOfSecret(secret);
            return this;
        }

        /** After this long of silence a server's connection is given up; 10 s. */
        public Context silenceTimeoutNs(long silenceTimeoutNs) {
            this.silenceTimeoutNs = silenceTimeoutNs;
            return this;
        }

        /**
         * Hand every message to a sink, as the piece of a variable of a step that its rank has. It
         * is confirmed when the sink has it; until then it is a file of the directory, which is
         * needed, and stays with its server. What the sink refuses becomes a file of the directory
         * and is reported. While the sink cannot be reached messages wait. With {@link #steps} the
         * messages of a step are handed over together, after its handler, in one transaction if the
         * sink has any.
         *
         * <p>The variable is that of the metadata, or else the name, with underscores for what is
         * no letter or digit. The array is described by {@link #GLOBAL_PROPERTY} and {@link
         * #START_PROPERTY}; without them the ranks' arrays lie one after the other in a further
         * dimension, the slowest, if {@link DartMetadata#rankCount} is above 1.
         *
         * @param sink closed with the receiver
         */
        public Context sink(Sink sink) {
            this.sink = sink;
            return this;
        }

        /** Most threads that hand messages to the sink, and no more than it takes sessions; 4. */
        public Context sinkSenders(int sinkSenders) {
            this.sinkSenders = sinkSenders;
            return this;
        }

        ReceiverSettings settings() {
            return new ReceiverSettings(
                    environment,
                    host,
                    port,
                    address,
                    directory,
                    handler,
                    steps == null ? null : steps.settings(),
                    lostHandler,
                    ack,
                    isKeepingBoth,
                    isReplacing,
                    isDescribing,
                    isAcceptingGaps,
                    messageLengthMax,
                    connectionsMax,
                    helloTimeoutNs,
                    windowMax,
                    unfinishedBytesMax,
                    halfKeptNs,
                    reverseBytesMax,
                    silenceTimeoutNs,
                    secret,
                    isNamingClients,
                    sink,
                    sinkSenders);
        }
    }
}
