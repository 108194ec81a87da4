package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Consumers in processes of their own. */
@Timeout(180)
class FlesnetConsumeIT {
    @TempDir private Path folder;

    private CommandProcess node(String role, String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "flesnet",
                                role,
                                "0",
                                "--directory=" + folder,
                                "--job=flesnet-consume-it" + ProcessHandle.current().pid(),
                                "--inputs=1",
                                "--computes=1",
                                "--timeslice=10"));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    private CommandProcess consumer(Path segment, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("flesnet", "consume", segment.toString()));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    /** What it has taken is not all. */
    @Test
    void shouldFailWhenTheComputeNodeEndsEarly() throws Exception {
        Path segment = folder.resolve("timeslices");
        Path archive = folder.resolve("taken.tsa");
        try (CommandProcess compute = node("compute", "--consumers=" + segment);
                CommandProcess consumer = consumer(segment, "--archive=" + archive);
                CommandProcess input = node("input", "--timeslices=1000000", "--period=50000")) {
            consumer.await(() -> archive.toFile().length() > 100_000, "take timeslices");
            compute.terminate();
            assertThat(compute.exitCode()).isNotZero();
            assertThat(consumer.exitCode()).isEqualTo(1);
            assertThat(consumer.out()).contains("the compute node ended before it had given");
        }
    }

    /** In the segment that is left over nobody would serve it. */
    @Test
    void shouldWaitForAComputeNodeThatWasKilled() throws Exception {
        Path segment = folder.resolve("timeslices");
        try (CommandProcess killed = node("compute", "--consumers=" + segment)) {
            killed.await(() -> Files.exists(segment), "make a segment");
            killed.handle().destroyForcibly();
            assertThat(killed.exitCode()).isNotZero();
        }
        try (CommandProcess consumer = consumer(segment)) {
            consumer.awaitOut("waiting for " + segment);
            try (CommandProcess compute = node("compute", "--consumers=" + segment);
                    CommandProcess input = node("input", "--timeslices=100")) {
                assertThat(input.exitCode()).isZero();
                assertThat(compute.exitCode()).isZero();
                assertThat(consumer.exitCode()).isZero();
                assertThat(consumer.out()).contains("consumer: 100 timeslices, 0 damaged");
            }
        }
    }

    /** Everything would wait for it if nobody noticed. */
    @Test
    void shouldGoOnWhenAConsumerIsKilled() throws Exception {
        Path segment = folder.resolve("timeslices");
        Path archive = folder.resolve("lost.tsa");
        try (CommandProcess compute =
                        node("compute", "--consumers=" + segment, "--consumers-min=2");
                CommandProcess kept = consumer(segment);
                CommandProcess lost = consumer(segment, "--archive=" + archive);
                CommandProcess input = node("input", "--timeslices=3000", "--period=50000")) {
            lost.await(
                    () -> Files.exists(archive) && archive.toFile().length() > 100_000,
                    "take timeslices");
            lost.handle().destroyForcibly();
            assertThat(input.exitCode()).isZero();
            assertThat(compute.exitCode()).isZero();
            assertThat(kept.exitCode()).isZero();
            assertThat(kept.out()).contains("consumer: 3000 timeslices, 0 damaged");
            assertThat(compute.out())
                    .contains("compute 0: 3000 timeslices handed out, 0 wanted by no consumer")
                    .contains("is lost: its process is gone");
        }
    }
}
