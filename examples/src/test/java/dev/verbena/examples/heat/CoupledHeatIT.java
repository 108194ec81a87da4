package dev.verbena.examples.heat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two servers, two simulations of two processes each, and the coupler, all processes. */
@Timeout(value = 240, unit = TimeUnit.SECONDS)
class CoupledHeatIT {
    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals"})
    void shouldComputeTheSameBitsAsTheWholeRod(String scheme) throws Exception {
        // Output at 20 and 40, from 51 on at 55, 60, ... 95, and at the end: 12 times 4 parts.
        assertThat(CoupledHeat.couple(scheme, 100))
                .isEqualTo("100 steps of 2 simulations; 48 fields equal the whole rod bit for bit");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm 1 more", "shm 0", "tcp", "server", "part 1"})
    void shouldRefuseWhatItWouldIgnore(String line, @TempDir Path folder) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.add(CoupledHeat.class.getName());
        command.addAll(List.of(line.split(" ")));
        Path errors = folder.resolve("errors.txt");
        Process process = new ProcessBuilder(command).redirectError(errors.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(2);
            assertThat(Files.readString(errors))
                    .contains("'" + line + "'", "./verbena couple")
                    .doesNotContain("\tat ");
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
