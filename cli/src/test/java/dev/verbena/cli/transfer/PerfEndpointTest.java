package dev.verbena.cli.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerfEndpointTest {
    /** A probe of doctor that fails for its memory: what it took would be missing for the next. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldGiveSharedMemoryBackWhenAllocatingFails(String scheme) throws IOException {
        List<String> before = shared();
        assertThatThrownBy(
                        () ->
                                new PerfEndpoint(
                                        scheme, Integer.MIN_VALUE, PerfEndpoint.Settings.usual()))
                .isInstanceOf(RuntimeException.class);
        assertThat(shared()).isSubsetOf(before);
    }

    /**
     * The shared memory that this process has mapped; libraries are loaded on first use and stay.
     */
    private static List<String> shared() throws IOException {
        try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
            return maps.filter(line -> line.matches(".*/verbena-\\d+/.*")).toList();
        }
    }
}
