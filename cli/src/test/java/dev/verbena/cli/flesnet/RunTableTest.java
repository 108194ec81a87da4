package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.terminal.Columns;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Progress and rates of a run. */
@Timeout(60)
class RunTableTest {
    private static Map<String, long[]> counts(long scale) {
        Map<String, long[]> counts = new TreeMap<>();
        counts.put("compute 0", new long[] {20 * scale, 4_000_000 * scale});
        counts.put("compute 1", new long[] {15 * scale, 3_000_000 * scale});
        counts.put("input 0", new long[] {30 * scale, 7_000_000 * scale});
        return counts;
    }

    @Test
    void shouldShowRatesSinceTheLastLook() {
        RunTable table = new RunTable(200, 0);
        table.lines(counts(1), 1_000_000_000L, Columns.UNKNOWN);
        assertThat(table.lines(counts(2), 3_000_000_000L, Columns.UNKNOWN))
                .containsExactly(
                        "node           timeslices      %   per second         MB      MB/s",
                        "compute 0              40                  10        8.0       2.0",
                        "compute 1              30                   8        6.0       1.5",
                        "input 0                60     30           15       14.0       3.5",
                        "computes               70     35           18       14.0       3.5",
                        "inputs                 60                  15       14.0       3.5");
    }

    @Test
    void shouldNotInventATotal() {
        RunTable table = new RunTable(-1, 0);
        assertThat(table.lines(counts(1), 1_000_000_000L, Columns.UNKNOWN).get(3))
                .isEqualTo("input 0                30                  30        7.0       7.0");
    }
}
