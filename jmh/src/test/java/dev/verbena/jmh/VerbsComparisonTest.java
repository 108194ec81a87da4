package dev.verbena.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the comparisons make of the figures of their rounds, and which output has a figure. */
@Timeout(120)
class VerbsComparisonTest {
    private static final String LATENCY_HEADER =
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec] \n";

    @TempDir private Path folder;

    private final VerbsContestants contestants = new VerbsContestants("twin", "rxe0", 1);

    private static String figure(String tool, int size, int count, String output) {
        Matcher matcher = VerbsContestants.figure(tool, size, count).matcher(output);
        return matcher.find() ? matcher.group(1) : null;
    }

    @Test
    void shouldFormRatiosRoundByRound() {
        double[] ours = {10, 30, 20};
        double[] others = {20, 20, 20};
        assertThat(Samples.ratios(ours, others)).isEqualTo("1.00 (0.50 to 1.50)");
        assertThat(ours).as("the rounds stay as they were").containsExactly(10, 30, 20);
        assertThat(Samples.median(new double[] {4, 1, 3, 2})).isEqualTo(2.5);
        assertThat(Samples.medianAndLeast(new double[] {7.25, 5, 9})).isEqualTo("7.3 (5.0)");
    }

    @Test
    void shouldPrintALineOfTheTable() {
        VerbsComparison.Row row = VerbsComparison.Row.of("write_lat-64:500");
        assertThat(row).isEqualTo(new VerbsComparison.Row("write_lat", 64, 500));
        double[] perftest = {100, 200};
        double[] twin = {50, 100};
        double[] java = {110, 220};
        assertThat(row.line(perftest, twin, java))
                .isEqualTo(
                        "| `write_lat`, us | 64 | 150.0 | 75.0 | 165.0 | 1.10 (1.10 to 1.10) | 2.20"
                                + " (2.20 to 2.20) | 0.50 (0.50 to 0.50) |");
        assertThat(VerbsComparison.Row.of("read_bw-65536").line(java, java, java))
                .startsWith("| `read_bw`, MiB/s | 65536 | 165.0 |");
    }

    @Test
    void shouldFindTheTypicalLatencyAndTheAverageBandwidth() {
        String latency =
                LATENCY_HEADER + " 64      500          58.11          97.30        61.42 ";
        assertThat(figure("write_lat", 64, 500, latency + "       62.00 \n")).isEqualTo("61.42");
        assertThat(figure("write_lat", 64, 600, latency)).as("of another row").isNull();
        String bandwidth = " 65536      800              60.10              58.25 \t 0.000932\n";
        assertThat(figure("write_bw", 65_536, 800, bandwidth)).isEqualTo("58.25");
    }

    @Test
    void shouldFindNothingWhereTheClockWasNotCalibrated() {
        for (String word : List.of("inf", "-inf", "nan", "-nan")) {
            String latency = " 64      500     " + word + "  " + word + "  " + word + "   12.0 \n";
            assertThat(figure("send_lat", 64, 500, latency)).as(word).isNull();
            String typical = " 64      500     1.00  2.00  " + word + "   12.0 \n";
            assertThat(figure("send_lat", 64, 500, typical)).as(word).isNull();
            String bandwidth = " 64      500      " + word + "       " + word + "   0.00 \n";
            assertThat(figure("send_bw", 64, 500, bandwidth)).as(word).isNull();
        }
    }

    @Test
    void shouldRunAgainUntilThereIsAFigure() throws Exception {
        Deque<String> outputs = new ArrayDeque<>();
        outputs.add(" 64 500 inf inf inf inf ");
        outputs.add(" 64 500 0.00 0.00 0.00 0.00 ");
        outputs.add(" 64 500 1.00 9.00 4.25 5.00 ");
        assertThat(contestants.firstFigure("ib_send_lat", () -> run(outputs.remove())))
                .isEqualTo(4.25);
        assertThat(outputs).isEmpty();
        assertThat(contestants.runsAgain()).isEqualTo(2);
    }

    /** A program that prints this, as perftest's are run and read. */
    private static double run(String output) throws IOException, InterruptedException {
        List<String> command = List.of("echo", output + "\n");
        return new Contestant(
                        "echo", command, Map.of(), VerbsContestants.figure("send_lat", 64, 500), 1)
                .sample();
    }

    @Test
    void shouldNotRunForEver() {
        assertThatThrownBy(
                        () ->
                                contestants.firstFigure(
                                        "ib_send_lat", () -> run(" 64 500 inf inf inf inf")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no figure in 6 runs")
                .cause()
                .hasMessageContaining("inf");
        assertThat(contestants.runsAgain()).isEqualTo(6);
    }

    @Test
    void shouldDropPairsDuringWhichThePlacementChanged() throws Exception {
        Comparison comparison =
                new Comparison(
                        "id",
                        "ours beside theirs",
                        "us",
                        says("3"),
                        List.of(says("2")),
                        Comparison.Bound.AT_MOST,
                        1.1);
        assertThat(comparison.rows()).singleElement().asString().contains("not measured");
        for (int pair = 0; pair < 10; pair++) {
            comparison.takePair(says("80"), pair % 2 == 0);
        }
        comparison.takePair(says("80", "340"), true);
        comparison.takePair(says("fails"), true);
        assertThat(comparison.pairs()).isEqualTo(10);
        assertThat(comparison.failure()).contains("no figure in: fails");
        assertThat(comparison.rows())
                .singleElement()
                .asString()
                .contains("near (80 ns), 10 pairs, 1 dropped")
                .contains("| 3.000 us | 2.000 us (says) | 1.50 | at most 1.1 | **missed** |");
    }

    /** Says these, in turn: the second at every second call, by a file that is there or not. */
    private Contestant says(String... words) {
        Path file = folder.resolve(String.join("-", words));
        String script =
                words.length == 1
                        ? "echo " + words[0]
                        : "if rm '%s' 2>/dev/null; then echo %s; else touch '%s'; echo %s; fi"
                                .formatted(file, words[0], file, words[1]);
        return new Contestant(
                "says", List.of("sh", "-c", script), Map.of(), Pattern.compile("([0-9.]+)"), 1);
    }
}
