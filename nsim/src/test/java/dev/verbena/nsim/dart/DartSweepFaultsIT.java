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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The sweep finds bugs: classes with switches are compiled beside the others, and each fault of the
 * list that is named for the sweep is switched on in a process of its own.
 */
class DartSweepFaultsIT {
    /** The seeds within which each fault is found. */
    private static final int SEEDS = 150;

    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));

    @TempDir static Path classes;

    /** Sweeps in this process; prints the seed that was found, or "nothing". */
    public static final class Sweep {
        private Sweep() {}

        public static void main(String[] args) {
            DartSweep.Finding found = DartSweep.sweep(1, SEEDS, (done, last) -> true);
            System.out.println(found == null ? "nothing" : "seed " + found.seed());
        }
    }

    @BeforeAll
    static void compileWithSwitches() throws IOException {
        List<String> arguments =
                new ArrayList<>(
                        List.of("--release", "17", "-proc:none", "-nowarn", "-d", "" + classes));
        arguments.addAll(List.of("-cp", System.getProperty("java.class.path")));
        String switches = "dev/verbena/agent/internal/PlantedFaults.java";
        arguments.add(HOME.resolve("java-api/src/planted/java").resolve(switches).toString());
        for (String module : List.of("java-api", "staging", "nsim")) {
            try (Stream<Path> files = Files.walk(HOME.resolve(module).resolve("src/main/java"))) {
                files.filter(DartSweepFaultsIT::hasSwitch)
                        .map(Path::toString)
                        .forEach(arguments::add);
            }
        }
        int code =
                ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, arguments.toArray(String[]::new));
        assertThat(code).isZero();
    }

    private static boolean hasSwitch(Path file) {
        try {
            return file.toString().endsWith(".java")
                    && Files.readString(file).contains("PlantedFaults.isOn");
        } catch (IOException e) {
            throw new IllegalStateException(file.toString(), e);
        }
    }

    /**
     * A completion before its data, a skipped credit, a wrong wrap mask, a hash's order, others.
     */
    static List<String> faults() throws IOException {
        List<String> faults =
                Files.readAllLines(HOME.resolve("ci/planted-faults.txt")).stream()
                        .filter(line -> line.startsWith("sweep-"))
                        .map(line -> line.substring(0, line.indexOf(' ')))
                        .toList();
        assertThat(faults)
                .contains(
                        "sweep-completion-before-data",
                        "sweep-credit-skipped",
                        "sweep-wrap-mask",
                        "sweep-map-order");
        return faults;
    }

    @ParameterizedTest
    @MethodSource("faults")
    @Tag("nsim-47")
    void shouldFindAPlantedFault(String fault) throws Exception {
        assertThat(sweep(fault)).as("with %s, in %d seeds", fault, SEEDS).startsWith("seed ");
    }

    @Test
    void shouldFindNothingWithoutAFault() throws Exception {
        assertThat(sweep("")).isEqualTo("nothing");
    }

    private static String sweep(String fault) throws Exception {
        String path = classes + File.pathSeparator + System.getProperty("java.class.path");
        ProcessBuilder builder =
                new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-ea",
                        "-cp",
                        path,
                        Sweep.class.getName());
        builder.environment().put("VERBENA_PLANTED", fault);
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            return new String(process.getInputStream().readAllBytes(), UTF_8).strip();
        } finally {
            process.destroyForcibly().waitFor();
        }
    }
}
