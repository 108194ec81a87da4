package dev.verbena.nsim.dart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The sweep finds bugs: each patch of {@code ci/planted-faults} that is named for it is applied to
 * copies of the sources, and the compiled classes come before the others in a process of its own.
 */
class DartSweepFaultsIT {
    /** The seeds within which each fault is found. */
    private static final int SEEDS = 150;

    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));

    @TempDir private Path folder;

    /** Sweeps in this process; prints the seed that was found, or "nothing". */
    public static final class Sweep {
        private Sweep() {}

        public static void main(String[] args) {
            DartSweep.Finding found = DartSweep.sweep(1, SEEDS, (done, last) -> true);
            System.out.println(found == null ? "nothing" : "seed " + found.seed());
        }
    }

    /**
     * A completion before its data, a skipped credit, a wrong wrap mask, a hash's order, others.
     */
    static List<Path> patches() throws IOException {
        try (Stream<Path> files = Files.list(HOME.resolve("ci/planted-faults"))) {
            List<Path> patches =
                    files.filter(file -> file.getFileName().toString().startsWith("sweep-"))
                            .sorted()
                            .toList();
            assertThat(patches)
                    .extracting(file -> file.getFileName().toString())
                    .contains(
                            "sweep-completion-before-data.patch",
                            "sweep-credit-skipped.patch",
                            "sweep-wrap-mask.patch",
                            "sweep-map-order.patch");
            return patches;
        }
    }

    @ParameterizedTest
    @MethodSource("patches")
    @Tag("nsim-47")
    void shouldFindAPlantedFault(Path patch) throws Exception {
        compilePatched(patch);
        assertThat(sweep()).as("with %s, in %d seeds", patch, SEEDS).startsWith("seed ");
    }

    @Test
    void shouldFindNothingWithoutAFault() throws Exception {
        assertThat(sweep()).isEqualTo("nothing");
    }

    private void compilePatched(Path patch) throws Exception {
        List<String> arguments =
                new ArrayList<>(
                        List.of("--release", "17", "-proc:none", "-nowarn", "-d", "" + folder));
        arguments.addAll(List.of("-cp", System.getProperty("java.class.path")));
        for (String line : Files.readAllLines(patch)) {
            if (line.startsWith("+++ b/")) {
                String source = line.substring("+++ b/".length());
                Path copy = folder.resolve(source);
                Files.createDirectories(copy.getParent());
                Files.copy(HOME.resolve(source), copy);
                arguments.add(copy.toString());
            }
        }
        ProcessBuilder git =
                new ProcessBuilder("git", "apply", patch.toRealPath().toString())
                        .directory(folder.toFile())
                        .inheritIO();
        git.environment().put("GIT_CEILING_DIRECTORIES", folder.getParent().toString());
        assertThat(git.start().waitFor()).as("git apply %s", patch).isZero();
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, arguments.toArray(String[]::new));
        assertThat(code).isZero();
    }

    private String sweep() throws Exception {
        String path = folder + File.pathSeparator + System.getProperty("java.class.path");
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-ea",
                        "-cp",
                        path,
                        Sweep.class.getName());
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            return new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
