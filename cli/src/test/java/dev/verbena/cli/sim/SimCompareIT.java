package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code sim compare}: real processes do what the simulator predicts. No times are asserted. */
@Timeout(240)
class SimCompareIT {
    private static final String[] ALL = {
        "ring-barrier", "recursive-doubling", "random-ring", "random-ring-get", "particle-exchange"
    };

    @TempDir private Path folder;

    /** Also where a put is matched by the target's list before it may write. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldRunEachScenarioAsProcessesAndBesideItsPrediction(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals", "gni");
        Path output = folder.resolve("report");
        CommandProcess command =
                CommandProcess.start(
                        folder,
                        "sim",
                        "compare",
                        "--transport=" + scheme,
                        "--processes=5",
                        "--repeat=5",
                        "--warm-up=5",
                        "--bytes=20000",
                        "--output=" + output);
        assertThat(command.exitCode(200)).as("%s", command.out()).isZero();
        assertThat(command.out()).contains("calibrated over " + scheme + ": node latency");
        for (String scenario : ALL) {
            Matcher line =
                    Pattern.compile("(?m)^" + scenario + " +5 +([0-9.]+) +([0-9.]+) +[-+][0-9.]+%")
                            .matcher(command.out());
            assertThat(line.find()).as("%s in %s", scenario, command.out()).isTrue();
            assertThat(Double.parseDouble(line.group(1))).isNotNegative();
            assertThat(Double.parseDouble(line.group(2))).isNotNegative();
        }
        assertThat(Files.readString(output.resolve("report.html")))
                .contains("<svg", "predicted", "particle-exchange", scheme);
        assertThat(Files.readString(output.resolve("points.csv"))).contains("error_percent");
    }
}
