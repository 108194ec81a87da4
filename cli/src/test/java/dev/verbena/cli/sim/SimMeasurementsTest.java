package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.nsim.scenario.Calibration;
import dev.verbena.nsim.scenario.Measure;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code sim compare} makes of the times that its processes tell. */
class SimMeasurementsTest {
    private static final int RUNS = 100;

    /** A row per process: in run i it begins at {@code begin[i]} and takes so long. */
    private static long[] row(long[] begins, long[] spans) {
        long[] row = new long[2 * begins.length];
        for (int i = 0; i < begins.length; i++) {
            row[2 * i] = begins[i];
            row[2 * i + 1] = begins[i] + spans[i];
        }
        return row;
    }

    private static long[] noisy(SplittableRandom random, long least, int noise, int leastAt) {
        long[] spans = new long[RUNS];
        for (int i = 0; i < RUNS; i++) {
            spans[i] = least + (i == leastAt ? 0 : 1 + random.nextInt(noise));
        }
        return spans;
    }

    private static long[] begins(long first) {
        long[] begins = new long[RUNS];
        for (int i = 0; i < RUNS; i++) {
            begins[i] = first + 10_000_000L * i;
        }
        return begins;
    }

    /** Half of the shortest of 100 barriers, by the clock of who begins, whatever the others do. */
    @Test
    @Tag("nsim-57")
    void shouldTakeHalfOfTheShortestBarrierOfAHundred() {
        SplittableRandom random = new SplittableRandom(7);
        for (int leastAt : new int[] {0, 41, RUNS - 1}) {
            long[][] barrier = {
                row(begins(500), noisy(random, 1_600, 90_000, leastAt)),
                row(begins(400), noisy(random, 100, 50, 3))
            };
            // 4 MB in 2 ms and the time of a barrier, in every run.
            long[] spans = new long[RUNS];
            java.util.Arrays.fill(spans, 2_001_600);
            long[][] ring = {row(begins(0), spans), row(begins(0), spans)};
            Calibration found = SimMeasurements.calibration(barrier, ring, 4_000_000);
            assertThat(found.latencyPs()).isEqualTo(800_000);
            assertThat(found.bytesPerSecond()).isEqualTo(2_000_000_000L);
        }
    }

    /** The rate is that of the median run, from the first beginning to the last end. */
    @Test
    @Tag("nsim-57")
    void shouldTakeTheRateOfCopyingFromTheMedianRing() {
        long[][] barrier = {row(begins(0), noisy(new SplittableRandom(1), 1_000, 10, 5))};
        long[] first = noisy(new SplittableRandom(2), 1_000_500, 400, 9);
        long[] second = first.clone();
        for (int i = 0; i < 40; i++) {
            first[i] = 90_000_000; // the machine did something else
        }
        long[][] ring = {row(begins(0), first), row(begins(500), second)};
        Calibration found = SimMeasurements.calibration(barrier, ring, 4_000_000);
        // The second begins 500 ns late, so the spans are up to 1,001,400 ns, less the barrier.
        assertThat((double) found.bytesPerSecond()).isCloseTo(4.0e9, within(0.005e9));
    }

    @Test
    void shouldTakeTheShortestOfBarriersAndTheMedianOfOthers() {
        long[][] times = {
            {100, 150, 1_000, 1_010, 2_000, 2_400}, {90, 140, 1_005, 1_100, 2_000, 2_001}
        };
        assertThat(SimMeasurements.figureNs(Measure.BARRIER, times)).isEqualTo(60);
        assertThat(SimMeasurements.figureNs(Measure.TIME, times)).isEqualTo(100);
        assertThat(SimMeasurements.inUnit(Measure.BARRIER, 1_500, 8)).isEqualTo(1.5);
        assertThat(SimMeasurements.inUnit(Measure.BANDWIDTH, 1_000, 4_000)).isEqualTo(4.0);
        assertThat(SimMeasurements.inUnit(Measure.TIME, 2_500_000, 8)).isEqualTo(2.5);
    }

    @Test
    void shouldShowRealBesidePredictedWithTheError(@TempDir Path folder) throws Exception {
        SimComparison comparison =
                new SimComparison("shm", new Calibration(1_250_000, 3_000_000_000L));
        comparison.add(new SimComparison.Point("ring-barrier", Measure.BARRIER, 2, 4, 5));
        comparison.add(new SimComparison.Point("ring-barrier", Measure.BARRIER, 4, 8, 6));
        comparison.add(new SimComparison.Point("random-ring", Measure.BANDWIDTH, 4, 1.5, 1.5));
        StringWriter text = new StringWriter();
        comparison.print(new PrintWriter(text, true), Columns.UNKNOWN);
        assertThat(text.toString())
                .contains("calibrated over shm: node latency 1.250 us, copying 3.000 GB/s")
                .containsPattern("ring-barrier +2 +4\\.0000 +5\\.0000 +\\+25\\.0%  us")
                .containsPattern("ring-barrier +4 +8\\.0000 +6\\.0000 +-25\\.0%  us")
                .containsPattern("random-ring +4 +1\\.5000 +1\\.5000 +\\+0\\.0%  GB/s");
        for (int width : new int[] {40, 60}) {
            StringWriter narrow = new StringWriter();
            comparison.print(new PrintWriter(narrow, true), width);
            Run.assertFits(narrow.toString(), width, text.toString());
        }
        Map<String, Object> json = comparison.json();
        assertThat(json).containsEntry("node_latency_us", 1.25);
        assertThat((List<?>) json.get("points")).hasSize(3);
        comparison.report().write(folder, Map.of("transport", "shm"));
        String page = Files.readString(folder.resolve("report.html"));
        // A chart per scenario with both curves, and one with the errors of all.
        assertThat(page.split("<svg class=\"chart\"", -1)).hasSize(4);
        assertThat(page.split(">predicted</text>", -1)).hasSize(3);
        assertThat(page).contains("Error of the predictions", "error, %", ">+25.0<", ">-25.0<");
        assertThat(Files.readString(folder.resolve("points.csv")))
                .contains("error_percent", "ring-barrier");
    }
}
