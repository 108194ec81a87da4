package dev.verbena.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopTableTest {
    private static List<String> lines(long heldStreams, long byBytes, int width) {
        Map<String, Long> counters =
                Map.of(
                        "servers held by steps",
                        heldStreams,
                        "held rank",
                        3L,
                        "held step",
                        17L,
                        "held by bytesMax",
                        byBytes);
        TopSample.Entry receiver =
                new TopSample.Entry("key", "job", "dart receiver", 1, counters, 0);
        TopSample sample = new TopSample(0, List.of(receiver));
        return TopTable.lines(sample, sample, width);
    }

    @ParameterizedTest
    @CsvSource({"40, 4", "60, 3", "80, 2", "120, 1"})
    void shouldFitTheTerminalColumnByColumn(int width, int rows) {
        List<String> lines = lines(0, 0, width);
        assertThat(lines).allMatch(line -> line.length() <= width);
        List<String> table = lines.subList(1, lines.size());
        assertThat(table).hasSize(2 * rows);
        for (int i = 0; i < rows; i++) {
            assertThat(table.get(rows + i)).hasSameSizeAs(table.get(i));
        }
        assertThat(String.join(" ", table).split("\\s+"))
                .containsSubsequence("spillMB", "stalls", "failed", "errors", "receiver", "1");
    }

    @Test
    void shouldNameRankStepAndOptionWhereAReceiverHoldsAServerBack() {
        assertThat(lines(1, 0, 120))
                .last()
                .asString()
                .contains("rank 3", "step 17", "openStepsMax");
        assertThat(lines(1, 1, 120)).last().asString().contains("bytesMax");
        assertThat(lines(0, 0, 120).toString()).doesNotContain("ahead");
    }
}
