package dev.verbena.cli.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.VerbenaCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables and options of the measurements over a device; what they measure is in PerftestIT. */
class PerftestReportTest {
    @Test
    void shouldSumUpLatencies() {
        double[] ns = new double[1000];
        for (int i = 0; i < ns.length; i++) {
            ns[i] = 1e3 * (1000 - i);
        }
        PerftestReport report = PerftestReport.ofLatencies(8, 1001, ns, false, false);
        assertThat(report.fields().toString())
                .isEqualTo(
                        "{MsgSize=8, n_iterations=1001, t_min=1.00, t_max=999.00,"
                                + " t_typical=499.50, t_avg=499.50, t_stdev=288.10, t_99=990.00,"
                                + " t_99.9=999.00}");
        assertThat(report.line().trim().split(" +"))
                .containsExactly(
                        "8", "1001", "1.00", "999.00", "499.50", "499.50", "288.10", "990.00",
                        "999.00");
    }

    @Test
    void shouldLeaveTheTwoLargestLatenciesOut() {
        double[] ns = {9e6, 1e3, 3e3, 2e3, 8e3};
        assertThat(PerftestReport.ofLatencies(8, 6, ns, false, false).fields().toString())
                .contains("t_min=1.00, t_max=8.00, t_typical=2.00, t_avg=2.00, t_stdev=0.82");
        double[] few = {2e3, 1e3};
        assertThat(PerftestReport.ofLatencies(8, 3, few, false, false).fields().toString())
                .contains("t_min=1.00, t_max=2.00, t_typical=1.50, t_avg=1.50, t_stdev=0.50");
        double[] one = {1e3};
        assertThat(PerftestReport.ofLatencies(8, 2, one, false, false).fields().toString())
                .contains("t_max=1.00, t_typical=1.00, t_avg=1.00, t_stdev=0.00");
    }

    @Test
    void shouldListEveryLatency() {
        double[] ns = {3e3, 1e3, 2e3};
        for (boolean isEach : new boolean[] {true, false}) {
            assertThat(PerftestReport.ofLatencies(8, 4, ns.clone(), isEach, true).line())
                    .startsWith(String.format("#, usec%n1, 3.000%n2, 1.000%n3, 2.000%n 8 "));
        }
        assertThat(PerftestReport.ofLatencies(8, 4, ns, true, false).line())
                .startsWith(String.format("#, usec%n1, 1.000%n2, 2.000%n3, 3.000%n 8 "));
    }

    @Test
    void shouldReportBandwidthInBothUnits() {
        assertThat(PerftestReport.ofBandwidth(65536, 100, 200, 100, 0.5, false).line().trim())
                .matches("65536 +100 +200\\.00 +100\\.00\\s+0\\.500000");
        assertThat(PerftestReport.ofBandwidth(65536, 100, 200, 100, 0.5, true).fields().toString())
                .contains("BW_peak=1.68, BW_average=0.84");
        assertThat(
                        PerftestReport.ofBandwidth(8, 1, Double.NaN, 1, 1, false)
                                .fields()
                                .get("BW_peak"))
                .isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lat write -s 0",
                "lat write -s 4 -a",
                "lat write -q 2",
                "lat write -n 1",
                "lat read -c UC",
                "lat write -c UD",
                "lat atomic -s 16",
                "bw write -p 0 somewhere",
                "bw write -l 200",
                "bw read -o 256",
                "bw send -I -1",
                "bw send -r 0",
                "bw send -Q 0",
                "lat read -m 128",
                "lat read -m 3000",
                "lat read -m 8192",
            })
    void shouldRefuseWrongOptions(String line) {
        StringWriter err = new StringWriter();
        int code =
                VerbenaCommand.run(
                        new PrintWriter(new StringWriter()), new PrintWriter(err), line.split(" "));
        assertThat(code).as("%s", err).isEqualTo(2);
    }

    @Test
    void shouldAddTheRatesOfBothDirections() {
        PerftestReport mine = PerftestReport.ofBandwidth(64, 100, 3, 2, 0.5, false);
        PerftestReport theirs = PerftestReport.ofBandwidth(64, 100, 1.25, 1, 0.25, false);
        assertThat(mine.plus(theirs).fields().toString())
                .isEqualTo(
                        "{MsgSize=64, n_iterations=100, BW_peak=4.25, BW_average=3.00,"
                                + " MsgRate=0.750000}");
    }

    @Test
    void shouldCountWhatIsCompleteBetweenTheMargins() {
        PerftestDuration stretch = new PerftestDuration(1000, 0);
        stretch.count(7);
        assertThat(stretch.isOver()).isFalse();
        stretch.begin(System.nanoTime());
        stretch.count(5);
        stretch.count(6);
        assertThat(stretch.counted()).isEqualTo(11);
        assertThat(stretch.sampleNs()).isEqualTo(1_000_000_000_000L);
        PerftestDuration margins = new PerftestDuration(1000, 400);
        margins.begin(System.nanoTime());
        margins.count(5);
        assertThat(margins.counted()).isZero();
        margins.begin(System.nanoTime() - 500_000_000_000L);
        margins.count(6);
        assertThat(margins.isOver()).isFalse();
        margins.begin(System.nanoTime() - 700_000_000_000L);
        margins.count(7);
        assertThat(margins.counted()).isEqualTo(6);
        margins.begin(System.nanoTime() - 1_000_000_000_000L);
        assertThat(margins.isOver()).isTrue();
        assertThat(margins.sampleNs()).isEqualTo(200_000_000_000L);
        PerftestDuration.WITHOUT_TIME.begin(System.nanoTime() - 1_000_000_000_000L);
        assertThat(PerftestDuration.WITHOUT_TIME.isOver()).isFalse();
    }

    @Test
    void shouldReportTheAverageOfATime() {
        PerftestReport report = PerftestReport.ofDuration(64, 2000, 6_000_000_000L, 2);
        assertThat(report.line().trim().split(" +"))
                .containsExactly("64", "2000", "1500.00", "333.33");
        assertThat(report.fields().toString())
                .isEqualTo("{MsgSize=64, n_iterations=2000, t_avg=1500.00, tps_average=333.33}");
        assertThat(PerftestReport.ofDuration(64, 0, 1000, 1).fields()).containsEntry("t_avg", null);
    }

    @Test
    void shouldFindTheBestStretch() {
        PerftestPeak peak = new PerftestPeak();
        assertThat(peak.messagesPerSecond(1)).isZero();
        peak.post(true, 0);
        peak.noteEnd(10);
        double rate = peak.messagesPerSecond(10);
        assertThat(rate).isPositive();
        assertThat(peak.messagesPerSecond(11)).isZero();
        peak.noteEnd(Long.MAX_VALUE / 2);
        assertThat(peak.messagesPerSecond(10)).isGreaterThan(rate);
        peak.clear();
        assertThat(peak.messagesPerSecond(1)).isZero();
    }

    @Test
    void shouldBeginAStretchBehindWhatEachQueueHasPosted() {
        PerftestPeak peak = new PerftestPeak();
        peak.post(false, 30); // The first queue is ahead,
        peak.post(false, 5); // the second behind.
        peak.post(true, 1);
        peak.post(false, 24);
        peak.noteEnd(60);
        assertThat(peak.messagesPerSecond(25)).isPositive();
        assertThat(peak.messagesPerSecond(26)).isZero();
        peak.clear();
        peak.post(true, 1);
        peak.noteEnd(1);
        assertThat(peak.messagesPerSecond(1)).isPositive();
    }

    @Test
    void shouldNotCountWhatCameBeforeTheClockWasStarted() {
        assertThat(PerftestBandwidth.messagesPerSecond(1000, 0, 2e9)).isEqualTo(500);
        assertThat(PerftestBandwidth.messagesPerSecond(1000, 100, 2e9)).isEqualTo(450);
        assertThat(PerftestBandwidth.messagesPerSecond(100, 100, 1e3)).isNaN();
        assertThat(PerftestBandwidth.messagesPerSecond(0, 0, 1e9)).isZero();
    }
}
