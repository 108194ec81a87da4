package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.memory.RegisteredRegion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example of docs/dart.md, compiled and run. */
@Timeout(60)
class DartGuideTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void shouldRunAsTheGuideSays(@TempDir Path directory) throws Exception {
        String conf = directory.resolve("dart.conf").toString();
        String out = directory.resolve("out").toString();
        String job = "guide" + ProcessHandle.current().pid();
        List<String> seen = new CopyOnWriteArrayList<>();
        try (RealEnvironment environment = RealEnvironment.builder().job(job).build();
                DartReceiver receiver = receiver(environment, out, seen);
                DartServer master = master(environment, conf, job, receiver.port())) {
            compute(environment, conf, job);
            assertThat(seen).containsExactly("density of rank 3, step 40, 800 bytes");
            assertThat(Files.size(Path.of(out, "density-3-40"))).isEqualTo(800);
            assertThat(master.isReady()).isTrue();
        }
    }

    private DartReceiver receiver(Environment environment, String directory, List<String> seen) {
        // tag::receiver[]
        return DartReceiver.launch(
                new DartReceiver.Context()
                        .environment(environment)
                        .listen("127.0.0.1", 0)
                        .directory(directory)
                        .handler(
                                message ->
                                        seen.add(
                                                message.metadata().variable()
                                                        + " of rank "
                                                        + message.metadata().rank()
                                                        + ", step "
                                                        + message.metadata().step()
                                                        + ", "
                                                        + message.length()
                                                        + " bytes")));
        // end::receiver[]
    }

    private DartServer master(Environment environment, String conf, String job, int port) {
        // tag::master[]
        return DartServer.launch(
                new DartServer.Context()
                        .environment(environment)
                        .master()
                        .transport("shm")
                        .transportJob(job)
                        .configurationFile(conf)
                        .receiver("127.0.0.1", port)
                        .clientCount(1));
        // end::master[]
    }

    private void compute(Environment environment, String conf, String job) {
        // tag::client[]
        try (DartClient client =
                DartClient.connect(
                        new DartClient.Context()
                                .environment(environment)
                                .transportJob(job)
                                .configurationFile(conf)
                                .rank(3))) {
            RegisteredRegion density = client.allocate(800);
            density.buffer(0, 800).putDouble(0, 1.5);
            DartMetadata metadata =
                    new DartMetadata()
                            .name("density-3-40")
                            .variable("density")
                            .elementType(ElementType.FLOAT64)
                            .shape(100)
                            .rank(3)
                            .step(40);
            DartTicket ticket = client.send(density, 0, 800, metadata, 1);
            // compute; do not touch density before the ticket is TRANSFERRED
            ticket.await(TicketState.STREAMED, 10 * SECOND);
        }
        // end::client[]
    }
}
