package dev.verbena.savime;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.savime.server.ServerCounts;
import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.server.ServerSettings;
import dev.verbena.savime.server.StagingEngine;
import dev.verbena.savime.store.BackgroundThread;
import dev.verbena.savime.store.StagingDirectory;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.forward.SenderPool;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkWatch;
import dev.verbena.staging.sink.StagedArrays;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;
import org.agrona.CloseHelper;

/**
 * A staging server, on threads of its own. It takes datasets into a directory of a memory file
 * system, or onto disk when that is full, and hands them to a sink. Thread-safe.
 */
public final class StagingService implements AutoCloseable {
    /** Less than the time in which a client puts the blocks that it was granted. */
    private static final long LOOK_MAX_NS = 200_000;

    private final Context context;
    private final AgentHost host;
    private final StagingEngine engine;
    private final AgentThread thread;

    private StagingService(Context context) {
        this.context = context;
        host =
                new AgentHost(
                        context.environment,
                        (what, e) -> new StagingException(StgStatus.CANCELLED, what));
        StagingDirectory memory = directory(context.memory, true);
        StagingDirectory disk = null;
        try {
            disk = directory(context.disk, false);
            SenderPool senders =
                    new SenderPool(
                            context.sink, context.senders, context.grace.toMillis(), context.watch);
            engine =
                    new StagingEngine(
                            context.settings(),
                            memory,
                            disk,
                            senders,
                            context.arrays,
                            BackgroundThread::new);
        } catch (RuntimeException e) {
            CloseHelper.closeAll(memory, disk);
            throw e;
        }
        thread =
                host.start(
                        AgentThread.builder("verbena-stage", context.environment)
                                .agent(engine)
                                .transport(engine::transport)
                                .lookWhile(engine::isBeingPutInto, LOOK_MAX_NS)
                                .wakeOnStreams()
                                .closeTimeoutNs(2 * context.grace.toNanos() + 10_000_000_000L));
        engine.onReady(thread::wakeup);
    }

    private static StagingDirectory directory(Path path, boolean isMemory) {
        return path == null ? null : new StagingDirectory(path, isMemory);
    }

    /**
     * Starts a server. What an earlier one has left in its directories goes to the sink.
     *
     * @throws IllegalArgumentException naming a value that is out of range
     * @throws java.io.UncheckedIOException naming a directory that cannot be used
     */
    public static StagingService launch(Context context) {
        return new StagingService(context.conclude());
    }

    /**
     * Waits until clients can connect.
     *
     * @throws StagingException if it takes too long, or the server could not start: its text is
     *     that of the cause, a port that is taken for example
     */
    public void awaitReady(Duration limit) {
        awaitPolled(() -> engine.isReady() || !thread.isAlive(), limit);
        RuntimeException why = engine.startFailure();
        if (why != null) {
            throw new StagingException(StgStatus.IO_ERROR, why.getMessage());
        }
        if (!engine.isReady()) {
            throw new StagingException(StgStatus.TIMEOUT, "the server is not ready");
        }
    }

    private boolean awaitPolled(java.util.function.BooleanSupplier condition, Duration limit) {
        long beginNs = context.environment.nanoClock().nanoTime();
        while (!condition.getAsBoolean()) {
            if (context.environment.nanoClock().nanoTime() - beginNs > limit.toNanos()) {
                return false;
            }
            host.await(condition, 1_000_000);
        }
        return true;
    }

    /** TCP port; 0: none, or not yet. */
    public int port() {
        return engine.port();
    }

    /** Address of the transport; null: none, or not yet. */
    public URI uri() {
        return engine.uri();
    }

    /** What happened since the start. */
    public StagingStatistics statistics() {
        ServerCounts counts = engine.counts();
        return new StagingStatistics(
                counts.get(Count.DATASETS_IN),
                counts.get(Count.BYTES_IN),
                counts.get(Count.DATASETS_OUT),
                counts.get(Count.BYTES_OUT),
                counts.get(Count.QUEUED),
                counts.get(Count.FORWARDING),
                counts.get(Count.RETRIES),
                counts.get(Count.REFUSED),
                counts.get(Count.ABORTED),
                counts.get(Count.REUSED),
                counts.get(Count.PINNED),
                engine.memoryReserved(),
                engine.diskReserved(),
                engine.sink().isAway(),
                engine.sink().losses(),
                engine.sink().wedges(),
                engine.sink().restarts());
    }

    /** Refuses new datasets, lets uploads and what is on its way to the sink end. */
    public void requestStop() {
        engine.requestStop();
    }

    /**
     * Stops in order, within the grace twice: what is not in the sink stays in the directories for
     * the next server.
     */
    @Override
    public void close() {
        engine.requestStop();
        awaitPolled(engine::isDrained, context.grace);
        host.close();
    }

    /** How to run a server. Fluent setters. */
    public static final class Context {
        private static final long YEAR_MS = 366L * 24 * 3600 * 1000;

        private Environment environment;
        private Path memory;
        private Path disk;
        private long memoryMax;
        private long diskMax = Long.MAX_VALUE;
        private long poolMax = -1;
        private long prefaultLength = 1;
        private int prefaultCount;
        private Sink sink;
        private SinkWatch watch = SinkWatch.NONE;
        private StagedArrays arrays = new StagedArrays();
        private String listenHost;
        private int listenPort;
        private String servicePath;
        private Supplier<Transport> transport;
        private byte[] token = new byte[StgFlyweight.TOKEN_LENGTH];
        private int senders = 4;
        private int blockMax = StgFlyweight.BLOCK_LENGTH_MAX;
        private int windowMax = 64;
        private long pinMax = 4L << 30;
        private int bounceLength = 4 << 20;
        private int bounceCount = 8;
        private Duration heartbeat = Duration.ofSeconds(1);
        private Duration resume = Duration.ofMinutes(1);
        private Duration keepFailed = Duration.ofHours(1);
        private Duration retryFirst = Duration.ofSeconds(1);
        private Duration retryLast = Duration.ofMinutes(1);
        private Duration admissionWait = Duration.ZERO;
        private Duration grace = Duration.ofSeconds(30);

        /** Nothing set. */
        public Context() {}

        /** Needed; not closed by the server. */
        public Context environment(Environment with) {
            environment = with;
            return this;
        }

        /** Directory of a memory file system, and most bytes in it. */
        public Context memory(Path directory, long bytesMax) {
            memory = directory;
            memoryMax = bytesMax;
            return this;
        }

        /** Directory for what memory has no room for; without, or without memory, one of both. */
        public Context disk(Path directory, long bytesMax) {
            disk = directory;
            diskMax = bytesMax;
            return this;
        }

        /** Most bytes of memory kept for later datasets of the same length; default a quarter. */
        public Context pool(long bytesMax) {
            poolMax = bytesMax;
            return this;
        }

        /**
         * Files that the pool has from the start, all their pages there: the first datasets of this
         * length need no fresh ones, which cost ten times a copy. No more than {@link #pool} holds.
         *
         * @param length bytes of a dataset
         */
        public Context prefault(long length, int count) {
            prefaultLength = length;
            prefaultCount = count;
            return this;
        }

        /** Needed; closed by the server. */
        public Context sink(Sink to) {
            sink = to;
            return this;
        }

        /** Told when the sink goes away, comes back, is wedged or was started again. */
        public Context watch(SinkWatch told) {
            watch = told;
            return this;
        }

        /** Told of the datasets that the server holds; other threads may read them there. */
        public Context arrays(StagedArrays told) {
            arrays = told;
            return this;
        }

        /**
         * Listens on TCP.
         *
         * @param on null: loopback
         * @param port 0: any
         */
        public Context listen(String on, int port) {
            listenHost = on == null ? "127.0.0.1" : on;
            listenPort = port;
            return this;
        }

        /**
         * Listens on a transport, and publishes its address in a file.
         *
         * @param scheme {@code shm} for example
         */
        public Context transport(String scheme, TransportContext with, String path) {
            servicePath = path;
            transport = () -> environment.openTransport(scheme, with);
            return this;
        }

        /** 16 bytes that clients must know; default zeros. */
        public Context token(byte[] bytes) {
            token = bytes.clone();
            return this;
        }

        /** Threads that send to the sink, 1 to 64, at most as many as it takes; default 4. */
        public Context senders(int count) {
            senders = count;
            return this;
        }

        /** Longest block and most blocks in flight of one connection; defaults 1 GiB and 64. */
        public Context blocks(int lengthMax, int countMax) {
            blockMax = lengthMax;
            windowMax = countMax;
            return this;
        }

        /** Most bytes registered at a time; default 4 GiB. */
        public Context pinMax(long bytes) {
            pinMax = bytes;
            return this;
        }

        /** Buffers for data on their way to disk; default 8 of 4 MiB. */
        public Context bounce(int length, int count) {
            bounceLength = length;
            bounceCount = count;
            return this;
        }

        /** Silence of a third of that after which a client counts as lost; default 1 s. */
        public Context heartbeat(Duration time) {
            heartbeat = time;
            return this;
        }

        /**
         * How long unfinished datasets of a lost client are kept that can go on; at most a year.
         */
        public Context resume(Duration time) {
            resume = checked("resume", time);
            return this;
        }

        /** How long a dataset is kept that the sink has refused; at most a year. */
        public Context keepFailed(Duration time) {
            keepFailed = checked("keepFailed", time);
            return this;
        }

        /** Pauses before a sink is tried again: first, from 1 ms, default 1 s; longest, 1 min. */
        public Context retry(Duration first, Duration last) {
            Arguments.range("first retry ms", checked("first retry", first).toMillis(), 1, YEAR_MS);
            retryFirst = first;
            retryLast = checked("last retry", last);
            return this;
        }

        /** How long a dataset waits for memory before it goes to disk; default not at all. */
        public Context admissionWait(Duration time) {
            admissionWait = checked("admissionWait", time);
            return this;
        }

        /** How long {@link StagingService#close} waits for uploads and for the sink; 30 s. */
        public Context grace(Duration time) {
            grace = checked("grace", time);
            return this;
        }

        private static Duration checked(String what, Duration time) {
            Arguments.notNull(what, time);
            Arguments.range(what + " seconds", time.toSeconds(), 0, YEAR_MS / 1000);
            return time;
        }

        private Context conclude() {
            Arguments.notNull("environment", environment);
            Arguments.notNull("sink", sink);
            if (memory == null && disk == null) {
                throw new IllegalArgumentException("neither memory nor disk is set");
            }
            if (listenHost == null && servicePath == null) {
                throw new IllegalArgumentException("neither listen nor transport is set");
            }
            Arguments.range("memoryMax", memoryMax, 0, Long.MAX_VALUE / 4);
            Arguments.range("diskMax", diskMax, 0, Long.MAX_VALUE);
            Arguments.range("token", token.length, StgFlyweight.TOKEN_LENGTH, 16);
            Arguments.range("senders", senders, 1, 64);
            Arguments.range("blockMax", blockMax, 4096, StgFlyweight.BLOCK_LENGTH_MAX);
            Arguments.range("windowMax", windowMax, 1, 64);
            Arguments.range("pinMax", pinMax, 4096, Long.MAX_VALUE);
            Arguments.range("bounceLength", bounceLength, 4096, 1 << 30);
            Arguments.range("bounceLength modulo 4096", bounceLength % 4096, 0, 0);
            Arguments.range("bounceCount", bounceCount, 1, 4096);
            Arguments.range("prefault length", prefaultLength, 1, Long.MAX_VALUE);
            Arguments.range("prefault count", prefaultCount, 0, 65_536);
            Arguments.range("heartbeat ms", heartbeat.toMillis(), 10, 3_600_000);
            return this;
        }

        private ServerSettings settings() {
            return new ServerSettings(
                    environment,
                    transport,
                    servicePath,
                    listenHost,
                    listenPort,
                    token.clone(),
                    memoryMax,
                    diskMax,
                    poolMax < 0 ? memoryMax / 4 : poolMax,
                    prefaultLength,
                    prefaultCount,
                    pinMax,
                    blockMax,
                    windowMax,
                    bounceLength,
                    bounceCount,
                    1024,
                    65536,
                    (int) heartbeat.toMillis(),
                    resume.toNanos(),
                    keepFailed.toNanos(),
                    retryFirst.toNanos(),
                    retryLast.toNanos(),
                    admissionWait.toNanos());
        }
    }
}
