package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.JobGroupMain;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several applications started as one job by {@code gni-run A : B}. */
@Timeout(180)
class JobGroupUnderGniRunIT {
    private static final Path GNI_RUN = Path.of("target/c/gni-run").toAbsolutePath();

    @TempDir Path directory;

    private static List<String> java(String application) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dverbena.app=" + application,
                "-cp",
                System.getProperty("java.class.path"),
                JobGroupMain.class.getName());
    }

    @Test
    @Tag("nessie-J1")
    void shouldSplitTwoApplications() throws Exception {
        Assumptions.assumeTrue(Files.isExecutable(GNI_RUN), GNI_RUN + " is not built");
        Path output = directory.resolve("output");
        List<String> command = new ArrayList<>(List.of(GNI_RUN.toString(), "-n", "2"));
        command.addAll(java("sim"));
        command.addAll(List.of(":", "-n", "1"));
        command.addAll(java("viz"));
        ProcessBuilder builder =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().put("VERBENA_RENDEZVOUS", directory.resolve("r").toString());
        Process process = builder.start();
        try {
            assertThat(process.waitFor(150, TimeUnit.SECONDS)).as("the job ends").isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        List<String> lines = Files.readAllLines(output);
        assertThat(lines.stream().filter(line -> line.startsWith("member ")).sorted())
                .as("output: %s", lines)
                .containsExactly(
                        "member PMI 0/3 sim 0/2 true sim+viz",
                        "member PMI 1/3 sim 1/2 true sim+viz",
                        "member PMI 2/3 viz 0/1 true sim+viz");
    }
}
