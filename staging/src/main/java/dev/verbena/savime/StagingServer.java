package dev.verbena.savime;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.client.ClientEngine;
import dev.verbena.savime.client.ClientSettings;
import dev.verbena.savime.client.RunCommand;
import dev.verbena.savime.client.Task;
import dev.verbena.savime.client.TaskQueue;
import dev.verbena.savime.client.Upload;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.host.AgentHost;
import dev.verbena.transport.TransportContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.agrona.CloseHelper;

/**
 * A client's connection to one or more staging servers: datasets are queued, and I/O threads write
 * them into the servers' memory. With several servers each dataset goes to one that is free.
 * Thread-safe.
 */
public final class StagingServer implements AutoCloseable {
    private static final long FOREVER_NS = Long.MAX_VALUE / 4;

    private final Config config;
    private final Environment environment;
    private final RealEnvironment own;
    private final AgentHost host;
    private final TaskQueue queue;
    private final List<AgentThread> threads = new ArrayList<>();

    /** Texts of commands that failed. */
    private final List<OffHeapMemory> unclosed = new CopyOnWriteArrayList<>();

    private boolean isClosed;

    private StagingServer(Config config) {
        this.config = config;
        own = config.environment == null ? RealEnvironment.builder().job(config.job).build() : null;
        environment = own == null ? config.environment : own;
        host = new AgentHost(environment, StagingServer::interrupted);
        int engines = config.addresses.size() * config.ioThreads;
        queue = new TaskQueue(config.addresses.size(), engines, host::changed);
        ClientSettings settings = config.settings(environment);
        try {
            for (String address : config.addresses) {
                for (int i = 0; i < config.ioThreads; i++) {
                    start(engine(settings, address));
                }
            }
        } catch (RuntimeException e) {
            closeNow();
            throw e;
        }
    }

    private static RuntimeException interrupted(String what, InterruptedException cause) {
        StagingException failure = new StagingException(StgStatus.CANCELLED, what);
        failure.initCause(cause);
        return failure;
    }

    private ClientEngine engine(ClientSettings settings, String address) {
        int colon = address.lastIndexOf(':');
        if (colon > 0 && address.indexOf('/') < 0) {
            int port = Integer.parseInt(address.substring(colon + 1));
            return ClientEngine.tcp(settings, address.substring(0, colon), port, queue);
        }
        return ClientEngine.transport(
                settings,
                () ->
                        environment.openTransport(
                                config.scheme, new TransportContext().job(config.job)),
                address,
                queue);
    }

    private void start(ClientEngine engine) {
        threads.add(
                host.start(
                        AgentThread.builder("verbena-staging-" + threads.size(), environment)
                                .agent(engine)
                                .transport(engine::transport)
                                .wakeOnStreams()));
    }

    /**
     * Begins to connect and returns at once: what is written meanwhile is queued.
     *
     * @throws IllegalArgumentException naming a value of the configuration that is out of range
     */
    public static StagingServer connect(Config config) {
        return new StagingServer(config.conclude());
    }

    /** As above, with all defaults. */
    public static StagingServer connect(String address) {
        return connect(new Config().address(address));
    }

    /**
     * A dataset of this name and type; nothing is sent.
     *
     * @param name 1 to 63 letters, digits and underscores, not beginning with a digit
     * @throws IllegalArgumentException for another name
     */
    public StagedDataset dataset(String name, ElementType type) {
        return new StagedDataset(
                this,
                name,
                type,
                StagedDataset.IfTaken.REJECT,
                StagedDataset.Place.MEMORY_THEN_DISK,
                null);
    }

    /** As above; the type as SAVIME writes it. */
    public StagedDataset dataset(String name, String type) {
        return dataset(name, ElementType.of(type));
    }

    CompletableFuture<Receipt> write(
            Upload.Dataset dataset, OffHeapMemory memory, long offset, long length) {
        if (!awaitRoom(length)) {
            return full();
        }
        CompletableFuture<Receipt> result = new CompletableFuture<>();
        String user = "write of " + dataset.name();
        memory.acquire(user);
        Upload task =
                new Upload(
                        dataset,
                        memory,
                        offset,
                        length,
                        ended -> {
                            memory.release(user);
                            complete(result, (Upload) ended);
                        });
        try {
            add(task);
        } catch (IllegalStateException e) {
            memory.release(user);
            throw e;
        }
        return result;
    }

    private <T> CompletableFuture<T> full() {
        String text = "the queue is full: " + config.queueBytesMax + " bytes";
        StagingException full = new StagingException(StgStatus.NO_SPACE, text);
        if (config.onFull == OnFull.THROW) {
            throw full;
        }
        return CompletableFuture.failedFuture(full);
    }

    private static void complete(CompletableFuture<Receipt> result, Upload task) {
        if (task.status() == StgStatus.OK) {
            result.complete(
                    new Receipt(task.givenName(), task.id(), task.length(), task.isInMemory()));
        } else {
            result.completeExceptionally(failure(task));
        }
    }

    private static StagingException failure(Task task) {
        String text = task.what() + ": " + StgStatus.name(task.status()) + ", " + task.text();
        return new StagingException(task.status(), text);
    }

    private boolean awaitRoom(long length) {
        if (config.queueBytesMax == Long.MAX_VALUE) {
            return true;
        }
        long limit = Math.max(0, config.queueBytesMax - length);
        boolean mayWait = config.onFull == OnFull.WAIT;
        return host.await(() -> queue.queuedBytes() <= limit, mayWait ? FOREVER_NS : 0);
    }

    private long add(Task task) {
        long sequence = queue.add(task);
        for (int i = 0; i < threads.size(); i++) {
            threads.get(i).wakeup();
        }
        return sequence;
    }

    /** As {@link #sync(Duration)} without a limit. */
    public void sync() {
        sync(Duration.ofNanos(FOREVER_NS));
    }

    /**
     * Waits until every task that was queued before has ended: the servers have the datasets, the
     * memory is the caller's again.
     *
     * @throws StagingException naming each dataset that failed since the last call, or TIMEOUT
     */
    public void sync(Duration limit) {
        long last = queue.lastSequence();
        if (!host.await(() -> queue.isDoneUpTo(last), limit.toNanos())) {
            throw new StagingException(StgStatus.TIMEOUT, "sync did not end within " + limit);
        }
        raise("not staged: ", queue.takeFailures());
    }

    private static void raise(String what, List<String> failures) {
        if (!failures.isEmpty()) {
            throw new StagingException(StgStatus.CANCELLED, what + String.join("; ", failures));
        }
    }

    /**
     * {@link #sync}, then waits until the sink has every dataset that the servers took.
     *
     * @throws StagingException naming each dataset that never reached the sink, or TIMEOUT
     */
    public void drain(Duration limit) {
        long beginNs = environment.nanoClock().nanoTime();
        List<String> lost = new ArrayList<>();
        try {
            sync(limit);
        } catch (StagingException e) {
            if (e.status() == StgStatus.TIMEOUT) {
                throw e;
            }
            lost.add(e.getMessage());
        }
        long left = limit.toNanos() - (environment.nanoClock().nanoTime() - beginNs);
        if (!host.await(queue::isDrained, Math.max(0, left))) {
            throw new StagingException(StgStatus.TIMEOUT, "drain did not end within " + limit);
        }
        lost.addAll(queue.takeLost());
        raise("not in the sink: ", lost);
    }

    /**
     * Runs a command in the sink's language after all datasets and commands before it, and waits.
     *
     * @throws StagingException PREDECESSOR_FAILED naming the datasets that failed before it,
     *     SINK_REJECTED with the sink's text, SINK_DOWN
     */
    public CommandResult run(String command) {
        try {
            return runAsync(command, false, false).join();
        } catch (CompletionException e) {
            throw (RuntimeException) e.getCause();
        }
    }

    /** As {@link #run(String)} without waiting. */
    public CompletableFuture<CommandResult> runAsync(String command) {
        return runAsync(command, false, false);
    }

    /**
     * Runs a command.
     *
     * @param isImmediate before everything that waits
     * @param isEvenIfFailed also after a dataset that failed
     */
    public CompletableFuture<CommandResult> runAsync(
            String command, boolean isImmediate, boolean isEvenIfFailed) {
        int flags =
                (isImmediate ? StgFlags.FLAG_IMMEDIATE : 0)
                        | (isEvenIfFailed ? StgFlags.FLAG_EVEN_IF_FAILED : 0);
        byte[] bytes = command.getBytes(UTF_8);
        if (bytes.length <= StgFlyweight.TEXT_MAX) {
            return run(command, flags, null);
        }
        if (!awaitRoom(bytes.length)) {
            return full();
        }
        OffHeapMemory text = OffHeapMemories.allocate(bytes.length);
        text.buffer(0, bytes.length).putBytes(0, bytes);
        String name = "command_" + Long.toHexString(environment.random(command).nextLong());
        Upload.Dataset dataset = new Upload.Dataset(name, "command", 1, 2, 0, null);
        Upload upload = new Upload(dataset, text, 0, bytes.length, ended -> closeSoon(text));
        try {
            return run(command, flags, upload);
        } catch (IllegalStateException e) {
            text.close();
            throw e;
        }
    }

    void closeSoon(OffHeapMemory text) {
        try {
            text.close();
        } catch (IllegalStateException e) {
            unclosed.add(text); // A transport may still read it.
        }
    }

    private CompletableFuture<CommandResult> run(String command, int flags, Upload textDataset) {
        CompletableFuture<CommandResult> result = new CompletableFuture<>();
        add(
                new RunCommand(
                        command,
                        flags,
                        textDataset,
                        task -> {
                            if (task.status() == StgStatus.OK) {
                                result.complete(new CommandResult(task.text()));
                            } else {
                                result.completeExceptionally(failure(task));
                            }
                        }));
        return result;
    }

    /**
     * {@link #sync}, then says goodbye. Failures of datasets are thrown after everything closed.
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        try {
            sync();
        } finally {
            closeNow();
        }
    }

    /** Ends at once: what is not done fails with CANCELLED. Idempotent. */
    public void closeNow() {
        isClosed = true;
        queue.close();
        host.close();
        List<AutoCloseable> last = new ArrayList<>(unclosed);
        last.add(own);
        CloseHelper.closeAll(last);
    }

    /** How to connect. Fluent setters; times are {@link Duration}, sizes bytes. */
    public static final class Config {
        private final List<String> addresses = new ArrayList<>();
        private Environment environment;
        private String job = new TransportContext().job();
        private String scheme = "shm";
        private int ioThreads = 1;
        private int blockSize = 256 << 20;
        private int window = 1;
        private boolean hasChecksum;
        private boolean reconnects;
        private byte[] token = new byte[StgFlyweight.TOKEN_LENGTH];
        private long queueBytesMax = Long.MAX_VALUE;
        private OnFull onFull = OnFull.WAIT;
        private Duration heartbeat = Duration.ofSeconds(1);
        private Duration connectTimeout = Duration.ofSeconds(10);
        private Duration requestTimeout = Duration.ofMinutes(10);

        /** All defaults; an address is needed. */
        public Config() {}

        /**
         * A server: {@code host:port}, or the path of the file in which it has published its
         * transport's address, with a slash. May be called several times.
         */
        public Config address(String address) {
            addresses.add(address);
            return this;
        }

        /** Default: one of its own. */
        public Config environment(Environment with) {
            environment = with;
            return this;
        }

        /** Of the transport; default as {@code TransportContext.job}. */
        public Config job(String name) {
            job = name;
            return this;
        }

        /** Of the transport; default {@code shm}. */
        public Config scheme(String name) {
            scheme = name;
            return this;
        }

        /** Threads, each with a connection, for each server: 1 to 64; default 1. */
        public Config ioThreads(int count) {
            ioThreads = count;
            return this;
        }

        /** 4 KiB to 1 GiB, a multiple of 4 KiB; default 256 MiB. The server may allow less. */
        public Config blockSize(int bytes) {
            blockSize = bytes;
            return this;
        }

        /** Blocks in flight of one dataset: 1 to 64; default 1. */
        public Config window(int blocks) {
            window = blocks;
            return this;
        }

        /** CRC-32C of blocks and datasets; default off. */
        public Config checksum(boolean is) {
            hasChecksum = is;
            return this;
        }

        /** Writes go on after a lost connection, where they were; default off: they fail. */
        public Config reconnect(boolean is) {
            reconnects = is;
            return this;
        }

        /** 16 bytes that the server was given; default zeros. */
        public Config token(byte[] bytes) {
            token = bytes.clone();
            return this;
        }

        /** Most bytes that wait or are being written; default no limit. */
        public Config queue(long bytesMax, OnFull what) {
            queueBytesMax = bytesMax;
            onFull = what;
            return this;
        }

        /** Silence after which a server is asked whether it lives; default 1 s. */
        public Config heartbeat(Duration time) {
            heartbeat = time;
            return this;
        }

        /** A server that cannot be reached for so long counts as lost; default 10 s. */
        public Config connectTimeout(Duration time) {
            connectTimeout = time;
            return this;
        }

        /** A task that makes no progress for so long fails; default 10 min. */
        public Config requestTimeout(Duration time) {
            requestTimeout = time;
            return this;
        }

        private Config conclude() {
            Arguments.range("servers", addresses.size(), 1, 64);
            addresses.forEach(each -> Arguments.notEmpty("address", each));
            Arguments.range("ioThreads", ioThreads, 1, 64);
            Arguments.range("blockSize", blockSize, 4096, StgFlyweight.BLOCK_LENGTH_MAX);
            Arguments.range("blockSize modulo 4096", blockSize % 4096, 0, 0);
            Arguments.range("window", window, 1, 64);
            Arguments.range("token", token.length, StgFlyweight.TOKEN_LENGTH, 16);
            Arguments.range("queueBytesMax", queueBytesMax, 1, Long.MAX_VALUE);
            Arguments.range("heartbeat ms", heartbeat.toMillis(), 10, 3_600_000);
            Arguments.range("connectTimeout ms", connectTimeout.toMillis(), 1, 86_400_000);
            Arguments.range("requestTimeout ms", requestTimeout.toMillis(), 1, 86_400_000);
            return this;
        }

        private ClientSettings settings(Environment with) {
            return new ClientSettings(
                    with,
                    with.unpredictable().nextLong(),
                    token.clone(),
                    blockSize,
                    window,
                    ioThreads,
                    hasChecksum,
                    reconnects,
                    heartbeat.toNanos(),
                    connectTimeout.toNanos(),
                    requestTimeout.toNanos());
        }
    }
}
