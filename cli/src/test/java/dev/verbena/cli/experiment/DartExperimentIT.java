package dev.verbena.cli.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The paper's laws, by {@code dart experiment} with its processes. Rates of the receiver are so low
 * that the law and not the machine's load decides.
 */
@Timeout(620)
class DartExperimentIT {
    private static final double RATIO_MIN = 0.6;
    private static final int TIMEOUT_SECONDS = 200;

    /** Computing waits: no law depends on a busy processor, and other tests have it. */
    private static final String WAITING = "--busy-cores=0";

    @TempDir private Path folder;

    private int runs;

    /** Runs an experiment; its summary. */
    private String experiment(String... arguments) throws Exception {
        List<String> line = new ArrayList<>(List.of("dart", "experiment"));
        line.addAll(List.of(arguments));
        line.addAll(List.of("--quick", "--json", "--output=" + folder.resolve("run-" + runs++)));
        CommandProcess command = CommandProcess.start(folder, line.toArray(new String[0]));
        assertThat(command.exitCode(TIMEOUT_SECONDS)).as("%s", command.out()).isZero();
        return command.out();
    }

    private static double value(String summary, String name) {
        Matcher found =
                Pattern.compile("\"" + Pattern.quote(name) + "\": ([-+0-9.e]+)").matcher(summary);
        assertThat(found.find()).as("'%s' in %s", name, summary).isTrue();
        return Double.parseDouble(found.group(1));
    }

    private double pulls(String scheme, int mebibytes) throws Exception {
        String size = "--size=" + (mebibytes << 10);
        String summary = experiment("e1", "--transport=" + scheme, "--only=pulls", size);
        return value(summary, "pulls, MB/s");
    }

    private static boolean isKneeSeen(String summary) {
        double below = value(summary, "N 8: tw / (knee - compute) at 0.5 knee");
        return below >= 0.8
                && below <= 1.5
                && value(summary, "N 8: tw / compute at 1.5 knee") < 0.05;
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals"})
    @Tag("dart-D51")
    void shouldWaitExactlyBelowTheKnee(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals");
        // A law of processes that have processors: where others run too, one of several runs, each
        // held to both limits, shows it.
        String summary = "";
        List<String> unlucky = new ArrayList<>();
        for (int i = 0; i < 3 && (i == 0 || !isKneeSeen(summary)); i++) {
            unlucky.add(summary);
            summary =
                    experiment(
                            "e2",
                            WAITING,
                            "--transport=" + scheme,
                            "--clients=8",
                            "--buffers=8",
                            "--steps=16");
        }
        assertThat(isKneeSeen(summary)).as("%s; before: %s", summary, unlucky).isTrue();
        Path run = folder.resolve("run-0");
        assertThat(Files.readString(run.resolve("report.html")))
                .contains("figure 7", "figure 8", "figure 9", "<svg")
                .doesNotContain("http://", "https://", "NaN,");
        assertThat(Files.readAllLines(run.resolve("points.csv"))).hasSize(5);
        assertThat(Files.readAllLines(run.resolve("points/point-1/samples.csv")))
                .hasSize(1 + 8 * 16);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals"})
    @Tag("dart-D52")
    void shouldGainByBuffering(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals");
        // The law is of processes that have processors; where others run too, one of several runs
        // shows it.
        double best = 0;
        String summary = "";
        for (int i = 0; i < 3 && best < 3; i++) {
            summary =
                    experiment(
                            "e4",
                            WAITING,
                            "--transport=" + scheme,
                            "--clients=4",
                            "--rate=50",
                            "--steps=8");
            System.out.println(scheme + ": " + summary);
            best = Math.max(best, value(summary, "unbuffered / buffered"));
        }
        assertThat(best).as("%s", summary).isGreaterThanOrEqualTo(3);
        assertThat(Files.readString(folder.resolve("run-0/report.html")))
                .contains("figures 11 and 12", "DART buffered", "file, fsync");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals"})
    @Tag("dart-D53")
    void shouldSaturateWithMessagesOfFourMebibytes(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals");
        // 0.9 is asserted by the benchmark on a machine of its own; here others run too. The best
        // of several, because they strike one size and not the other: after the first the two
        // sizes alone, as the benchmark measures them.
        String summary = experiment("e1", "--transport=" + scheme);
        double best = value(summary, "pull at 4 MiB / at 64 MiB");
        for (int i = 0; i < 2 && best <= RATIO_MIN; i++) {
            best = Math.max(best, pulls(scheme, 4) / pulls(scheme, 64));
        }
        assertThat(best).as("%s", summary).isGreaterThan(RATIO_MIN);
        assertThat(value(summary, "streaming / plain TCP, median")).isPositive();
    }

    @ParameterizedTest
    @CsvSource({
        "pulls, 'pulls, MB/s'",
        "gets, 'gets alone, MB/s'",
        "tcp, 'plain TCP, MB/s'",
        "streaming, 'streaming, MB/s'"
    })
    void shouldMeasureOnePart(String part, String figure) throws Exception {
        Turns.assume(part, "pulls", "gets", "tcp", "streaming");
        String summary = experiment("e1", "--transport=shm", "--only=" + part);

        assertThat(value(summary, figure)).as("%s", summary).isPositive();
    }

    @Test
    void shouldEndInOrderWhenInterrupted() throws Exception {
        Path output = folder.resolve("interrupted");
        try (CommandProcess command =
                CommandProcess.start(
                        folder,
                        "dart",
                        "experiment",
                        "e3",
                        "--transport=shm",
                        "--clients=4",
                        "--output=" + output)) {
            command.awaitOut("%,");
            command.terminate();
            assertThat(command.exitCode()).isIn(1, 143);
            assertThat(command.handle().descendants()).isEmpty();
        }
    }

    @Test
    void shouldRefuseWrongArguments() throws Exception {
        assertThat(CommandProcess.run(folder, "dart", "experiment", "e9").exitCode()).isEqualTo(2);
        CommandProcess many =
                CommandProcess.run(folder, "dart", "experiment", "e2", "--clients=8,1000");
        assertThat(many.exitCode()).isEqualTo(2);
        assertThat(many.out()).contains("--clients 1000 is outside 1 to 256");
    }
}
