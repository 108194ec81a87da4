package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Events of a simulation are written and read by the command as a user starts it: in a JVM without
 * flags, in which nothing but the simulator ran before.
 */
@Timeout(240)
class SimEventsIT {
    @TempDir private Path folder;

    @Test
    @Tag("each-jdk")
    void shouldWriteAndReadEventsInJvmsWithoutFlags() throws Exception {
        String file = folder.resolve("events").toString();
        CommandProcess writer =
                CommandProcess.run(folder, "sim", "ring-barrier", "-n", "4", "--events", file);
        assertThat(writer.exitCode()).as(writer.out()).isZero();
        CommandProcess reader = CommandProcess.run(folder, "sim", "events", file, "--summary");
        assertThat(reader.exitCode()).as(reader.out()).isZero();
        String trace = writer.out().replaceAll("(?s).*trace ([0-9a-f]{16}).*", "$1");
        assertThat(reader.out()).contains("run 1, 4 processes: 136 events", "trace " + trace);
    }
}
