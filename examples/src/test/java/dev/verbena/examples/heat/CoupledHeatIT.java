package dev.verbena.examples.heat;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
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

    @Test
    void shouldRefuseWhatItWouldIgnore() throws Exception {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin/java").toString(),
                                "-cp",
                                System.getProperty("java.class.path"),
                                CoupledHeat.class.getName(),
                                "shm",
                                "1",
                                "more")
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isEqualTo(2);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }
}
