package dev.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ctrl-C reaches a measurement and the process that it started. */
@Timeout(180)
class PerfInterruptIT {
    @TempDir private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldLeaveNoSharedMemoryWhenInterrupted(String scheme) throws Exception {
        Path shared = Files.createDirectory(folder.resolve("shm"));
        try (CommandProcess bw =
                CommandProcess.start(
                        folder,
                        Map.of("VERBENA_SHM_DIR", shared.toString(), "GNI_SHIM_DIR", "" + shared),
                        "bw",
                        "--transport=" + scheme,
                        "--all",
                        "--iterations=1000000000")) {
            bw.awaitOut("# bw put over");
            assertThat(regularFiles(shared)).isNotEmpty();
            List<String> kill = new ArrayList<>(List.of("kill", "-INT", "" + bw.handle().pid()));
            bw.handle().descendants().forEach(child -> kill.add("" + child.pid()));
            assertThat(new ProcessBuilder(kill).start().waitFor()).isZero();
            assertThat(bw.exitCode(30)).isEqualTo(130);
        }
        assertThat(regularFiles(shared)).isEmpty();
    }

    private static List<Path> regularFiles(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toList();
        }
    }
}
