package dev.verbena.savime;

import dev.verbena.JavaProcess;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeSink;
import dev.verbena.staging.sink.Sink;
import dev.verbena.transport.TransportContext;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * A staging server or a client as a process of its own, to be killed: {@code server JOB FOLDER
 * MEMORY SINK}, SINK a port of SAVIME or {@code file:FOLDER}, or {@code client JOB FOLDER NAME
 * COUNT}.
 */
final class StagingProcess extends JavaProcess {
    static final int LENGTH = 100_000;

    private StagingProcess(String... arguments) throws IOException {
        super(arguments);
    }

    static StagingProcess start(String... arguments) throws IOException {
        return new StagingProcess(arguments);
    }

    // ---- in the process

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[2]);
        try (RealEnvironment environment = RealEnvironment.builder().job(arguments[1]).build()) {
            if (arguments[0].equals("server")) {
                serve(environment, folder, arguments);
            } else {
                send(environment, folder, arguments);
            }
        }
    }

    private static void serve(RealEnvironment environment, Path folder, String[] arguments)
            throws IOException {
        StagingService.Context context =
                new StagingService.Context()
                        .environment(environment)
                        .memory(Path.of(arguments[3]), 1 << 20)
                        .disk(folder.resolve("disk"), 1 << 30)
                        .retry(Duration.ofMillis(20), Duration.ofMillis(100))
                        .transport(
                                "shm",
                                new TransportContext().job(arguments[1]),
                                folder.resolve("service").toString())
                        .listen(null, 0)
                        .sink(sink(arguments[4]));
        try (StagingService service = StagingService.launch(context)) {
            service.awaitReady(Duration.ofSeconds(30));
            System.out.println("ready " + service.port());
            while (System.in.available() == 0) {
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    private static Sink sink(String where) {
        return where.startsWith("file:")
                ? new EchoSink(Path.of(where.substring(5)))
                : new SavimeSink("127.0.0.1", Integer.parseInt(where), SavimeClient.Limits.DEFAULT);
    }

    private static void send(RealEnvironment environment, Path folder, String[] arguments) {
        int count = Integer.parseInt(arguments[4]);
        try (OffHeapMemory memory = OffHeapMemories.allocate(LENGTH);
                StagingServer server =
                        StagingServer.connect(
                                new StagingServer.Config()
                                        .environment(environment)
                                        .job(arguments[1])
                                        .address(folder.resolve("service").toString())
                                        .blockSize(32 << 10)
                                        .checksum(true))) {
            for (int i = 0; i < count; i++) {
                memory.buffer(0, LENGTH).putBytes(0, StagingFixture.bytes(i, LENGTH));
                server.dataset(arguments[3] + i, ElementType.CHAR).write(memory).join();
                System.out.println("staged " + i);
            }
            System.out.println("done");
            LockSupport.parkNanos(60_000_000_000L);
        }
    }
}
