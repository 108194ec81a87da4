package dev.verbena.jmh;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagedDataset;
import dev.verbena.savime.StagingServer;
import dev.verbena.savime.StagingService;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.Sinks;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;

/**
 * Datasets of 256 MiB into a staging server of the same process over shm://, and beside them what
 * moves as many bytes without a protocol. Prints one median. Arguments: {@code staged BLOCK_MIB
 * pooled|fresh plain|sums}, {@code put BLOCK_MIB}, {@code copy mapped|written}, {@code sink},
 * {@code socket}, {@code write} or {@code synced}.
 */
public final class StagingFigures {
    private static final int LENGTH = 256 << 20;
    private static final int WARM_UPS = 50;

    /** The compilers are done by then: they take processor time from the two sides. */
    private static final long WARM_UP_NS = 6_000_000_000L;

    private static final int ROUNDS = 15;
    private static final int WINDOW = 4;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    /** Small datasets before the large ones: methods that run once a dataset are compiled then. */
    private static final int PRACTICE = 4000;

    private static final int SMALL = 8 << 10;
    private static final int SMALL_WRITES = 500;

    private final Path folder;
    private final TransportContext context =
            new TransportContext().job("staging-figures" + ProcessHandle.current().pid());

    private StagingFigures(Path folder) {
        this.folder = folder;
    }

    /** One round; seconds. */
    private interface Round {
        double run(int number) throws Exception;
    }

    /** Takes everything at once. */
    private static final class NowhereSink implements Sink, SinkSession {
        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() {
            return this;
        }

        @Override
        public void transfer(SinkDataset dataset, FileChannel data) {
            // Nobody wants it.
        }

        @Override
        public String command(String text) {
            return "";
        }

        @Override
        public void close() {
            // Nothing is held.
        }
    }

    private static double megabytesPerSecond(Round round) throws Exception {
        double[] rates = new double[ROUNDS];
        long endNs = System.nanoTime() + WARM_UP_NS;
        int number = 0;
        while (number < WARM_UPS || System.nanoTime() - endNs < 0) {
            round.run(number++);
        }
        for (int i = 0; i < ROUNDS; i++) {
            rates[i] = LENGTH / 1e6 / round.run(number++);
        }
        return Samples.median(rates);
    }

    private static double since(long beginNs) {
        return (System.nanoTime() - beginNs) / 1e9;
    }

    private static OffHeapMemory touched() {
        OffHeapMemory memory = OffHeapMemories.allocate(LENGTH);
        memory.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) 7);
        return memory;
    }

    private StagingService service(RealEnvironment environment, long poolMax) throws IOException {
        StagingService service =
                StagingService.launch(
                        new StagingService.Context()
                                .environment(environment)
                                .memory(
                                        Files.createDirectory(folder.resolve("staged")),
                                        4L * LENGTH)
                                .pool(poolMax)
                                .sink(new NowhereSink())
                                .transport("shm", context, address()));
        service.awaitReady(PATIENCE);
        return service;
    }

    private String address() {
        return folder.resolve("address").toString();
    }

    private StagingServer.Config client() {
        return new StagingServer.Config().address(address()).job(context.job());
    }

    private double staged(int blockMebibytes, boolean isPooled, boolean hasSums) throws Exception {
        StagingServer.Config config =
                client().blockSize(blockMebibytes << 20).window(WINDOW).checksum(hasSums);
        try (RealEnvironment environment = RealEnvironment.builder().job(context.job()).build();
                StagingService service = service(environment, isPooled ? 2L * LENGTH : 0);
                OffHeapMemory source = touched();
                StagingServer server = StagingServer.connect(config)) {
            practise(server);
            long before = service.statistics().reused();
            double rate =
                    megabytesPerSecond(
                            number -> {
                                long beginNs = System.nanoTime();
                                server.dataset("d" + number, ElementType.CHAR).write(source);
                                server.sync();
                                double seconds = since(beginNs);
                                // The memory of this one is there for the next, or gone.
                                server.drain(PATIENCE);
                                return seconds;
                            });
            long reused = service.statistics().reused() - before;
            if (isPooled ? reused < ROUNDS : reused > 0) {
                throw new IllegalStateException(reused + " datasets got pages of earlier ones");
            }
            return rate;
        }
    }

    private static void practise(StagingServer server) {
        try (OffHeapMemory source = OffHeapMemories.allocate(SMALL)) {
            for (int i = 0; i < PRACTICE; i++) {
                server.dataset("p" + i, ElementType.CHAR).write(source);
                server.sync();
                if (i % SMALL_WRITES == 0) {
                    server.drain(PATIENCE);
                }
            }
            server.drain(PATIENCE);
        }
    }

    /** From memory of the same kind as what is staged. */
    private static double put(int blockMebibytes) throws Exception {
        int block = blockMebibytes << 20;
        try (ConnectedPair pair = new ConnectedPair("shm", LENGTH);
                OffHeapMemory memory = touched();
                RegisteredRegion source = pair.initiator.register(memory, 0)) {
            return megabytesPerSecond(
                    number -> {
                        long beginNs = System.nanoTime();
                        for (int at = 0; at < LENGTH; at += block) {
                            put(pair, source, at, block);
                        }
                        return since(beginNs);
                    });
        }
    }

    private static void put(ConnectedPair pair, RegisteredRegion source, int at, int block) {
        int result =
                pair.initiator.put(pair.connection, source, at, pair.descriptor, at, block, at, 0);
        if (result != Transport.ACCEPTED) {
            throw new IllegalStateException("put was refused with code " + result);
        }
        while (pair.initiator.poll(TransportHandler.IGNORE, 1) == 0) {
            Thread.onSpinWait();
        }
    }

    private double copy(boolean isMapped) throws Exception {
        ByteBuffer source = ByteBuffer.allocateDirect(LENGTH);
        for (int i = 0; i < LENGTH; i += Long.BYTES) {
            source.putLong(i, i);
        }
        return megabytesPerSecond(
                number -> {
                    Path file = folder.resolve("copy" + number);
                    source.clear();
                    long beginNs = System.nanoTime();
                    try (FileChannel channel = create(file)) {
                        if (isMapped) {
                            channel.map(FileChannel.MapMode.READ_WRITE, 0, LENGTH).put(source);
                        } else {
                            while (source.hasRemaining()) {
                                channel.write(source);
                            }
                        }
                    }
                    double seconds = since(beginNs);
                    Files.delete(file);
                    return seconds;
                });
    }

    private static FileChannel create(Path file) throws IOException {
        return FileChannel.open(
                file,
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE);
    }

    /** A staged file as the server has it. */
    private FileChannel stagedFile() throws IOException {
        FileChannel channel = create(folder.resolve("staged"));
        ByteBuffer bytes = ByteBuffer.allocateDirect(1 << 20);
        for (int at = 0; at < LENGTH; at += bytes.capacity()) {
            bytes.clear();
            channel.write(bytes, at);
        }
        return channel;
    }

    private double sink() throws Exception {
        Path target = Files.createDirectory(folder.resolve("arrived"));
        try (FileChannel data = stagedFile();
                Sink sink = Sinks.of("file:" + target, StagingFigures.class.getClassLoader());
                SinkSession session = sink.open()) {
            return megabytesPerSecond(
                    number -> {
                        String name = "d" + number;
                        SinkDataset dataset = new SinkDataset(name, "char", LENGTH, 1, null, false);
                        long beginNs = System.nanoTime();
                        session.transfer(dataset, data);
                        double seconds = since(beginNs);
                        Files.delete(target.resolve(name + ".raw"));
                        return seconds;
                    });
        }
    }

    /** The same file by sendfile into a socket, and out of it into a file. */
    private double socket() throws Exception {
        try (FileChannel data = stagedFile();
                ServerSocketChannel listening = ServerSocketChannel.open()) {
            listening.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            return megabytesPerSecond(
                    number -> {
                        Path file = folder.resolve("received" + number);
                        try (SocketChannel out = SocketChannel.open(listening.getLocalAddress());
                                SocketChannel in = listening.accept();
                                FileChannel received = create(file)) {
                            long beginNs = System.nanoTime();
                            CompletableFuture<Void> sent =
                                    CompletableFuture.runAsync(() -> send(data, out));
                            for (long at = 0; at < LENGTH; ) {
                                at += received.transferFrom(in, at, LENGTH - at);
                            }
                            double seconds = since(beginNs);
                            sent.join();
                            return seconds;
                        } finally {
                            Files.delete(file);
                        }
                    });
        }
    }

    private static void send(FileChannel data, SocketChannel out) {
        try {
            for (long at = 0; at < LENGTH; ) {
                at += data.transferTo(at, LENGTH - at, out);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** What the caller of a write waits, or until it is staged; nanoseconds, p50. */
    @SuppressWarnings("try") // the server is found by its address
    private double write(boolean isSynced) throws Exception {
        long[] times = new long[SMALL_WRITES];
        try (RealEnvironment environment = RealEnvironment.builder().job(context.job()).build();
                StagingService service = service(environment, 2L * LENGTH);
                OffHeapMemory source = OffHeapMemories.allocate(SMALL);
                StagingServer server = StagingServer.connect(client())) {
            for (int round = 0; round < WARM_UPS; round++) {
                for (int i = 0; i < SMALL_WRITES; i++) {
                    StagedDataset dataset = server.dataset("d" + round + "_" + i, ElementType.CHAR);
                    long beginNs = System.nanoTime();
                    dataset.write(source);
                    if (isSynced) {
                        server.sync();
                    }
                    times[i] = System.nanoTime() - beginNs;
                }
                server.drain(PATIENCE);
            }
        }
        Arrays.sort(times);
        return times[SMALL_WRITES / 2];
    }

    private double measure(String[] arguments) throws Exception {
        return switch (arguments[0]) {
            case "staged" ->
                    staged(
                            Integer.parseInt(arguments[1]),
                            arguments[2].equals("pooled"),
                            arguments[3].equals("sums"));
            case "put" -> put(Integer.parseInt(arguments[1]));
            case "copy" -> copy(arguments[1].equals("mapped"));
            case "sink" -> sink();
            case "socket" -> socket();
            case "write", "synced" -> write(arguments[0].equals("synced"));
            default -> throw new IllegalArgumentException(arguments[0]);
        };
    }

    /** Prints one number: MB/s, or nanoseconds. */
    public static void main(String[] arguments) throws Exception {
        Path memory = CountersFile.defaultShmDirectory();
        try (TemporaryFolder folder = new TemporaryFolder(memory, "verbena-figures-")) {
            Samples.print(new StagingFigures(folder.path).measure(arguments));
        }
    }
}
