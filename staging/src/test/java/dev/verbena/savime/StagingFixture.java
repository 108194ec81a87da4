package dev.verbena.savime;

import dev.verbena.agent.Await;
import dev.verbena.agent.CountersFile;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.staging.sink.Sink;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** A staging server and clients in this process, over a transport or TCP. */
public final class StagingFixture implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    public final List<Throwable> errors = new CopyOnWriteArrayList<>();
    public final String job =
            "stage" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
    public final RealEnvironment environment =
            RealEnvironment.builder().job(job).errorHandler(errors::add).build();
    public final Path folder;
    public final Path memory;
    public StagingService service;
    private final String scheme;
    private final boolean isTcp;
    private final List<AutoCloseable> opened = new ArrayList<>();

    /** Over {@code shm}, or TCP. */
    public StagingFixture(Path folder, boolean isTcp) throws IOException {
        this(folder, isTcp, "shm");
    }

    /** Over the transport of this scheme. */
    public StagingFixture(Path folder, String scheme) throws IOException {
        this(folder, false, scheme);
    }

    private StagingFixture(Path folder, boolean isTcp, String scheme) throws IOException {
        this.folder = folder;
        this.isTcp = isTcp;
        this.scheme = scheme;
        // A real memory file system.
        memory = Files.createTempDirectory(CountersFile.defaultShmDirectory(), "verbena-stage-");
    }

    public StagingService.Context context(Sink sink) {
        StagingService.Context context =
                new StagingService.Context()
                        .environment(environment)
                        .memory(memory, 64 << 20)
                        .disk(folder.resolve("disk"), 1 << 30)
                        .sink(sink)
                        .retry(Duration.ofMillis(20), Duration.ofMillis(100))
                        .heartbeat(Duration.ofMillis(300))
                        .grace(Duration.ofSeconds(5));
        return isTcp
                ? context.listen(null, 0)
                : context.transport(scheme, new TransportContext().job(job), service().toString());
    }

    public Path service() {
        return folder.resolve("service");
    }

    public StagingFixture launch(StagingService.Context context) {
        service = StagingService.launch(context);
        service.awaitReady(Duration.ofSeconds(60));
        Await.until("listening", () -> !isTcp || service.port() > 0);
        return this;
    }

    public StagingFixture launch(Sink sink) {
        return launch(context(sink));
    }

    public String address() {
        return isTcp ? "127.0.0.1:" + service.port() : service().toString();
    }

    public StagingServer.Config config() {
        return new StagingServer.Config()
                .environment(environment)
                .job(job)
                .scheme(scheme)
                .address(address())
                .blockSize(1 << 20)
                .heartbeat(Duration.ofMillis(100));
    }

    public StagingServer connect() {
        return connect(config());
    }

    public StagingServer connect(StagingServer.Config config) {
        StagingServer server = StagingServer.connect(config);
        opened.add(server::closeNow);
        return server;
    }

    public OffHeapMemory memory(int seed, int length) {
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        memory.buffer(0, length).putBytes(0, bytes(seed, length));
        opened.add(0, memory);
        return memory;
    }

    public static byte[] bytes(int seed, int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (seed * 31 + i / 3 + (i >>> 12));
        }
        return bytes;
    }

    /** Files of datasets that there are. */
    public static List<String> staged(Path directory) {
        if (!Files.isDirectory(directory)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(each -> each.getFileName().toString())
                    .filter(each -> !each.equals("lock"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void stop() {
        if (service != null) {
            service.close();
            service = null;
        }
    }

    @Override
    public void close() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
        stop();
        environment.close();
        delete(memory);
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            delete(left);
        }
    }

    public static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
