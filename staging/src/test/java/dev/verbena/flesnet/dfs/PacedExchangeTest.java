package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An all-to-all of 4 senders and 3 receivers in which every receiver takes 100 ns a message. */
@Timeout(60)
class PacedExchangeTest {
    private static final int SENDERS = 4;
    private static final int RECEIVERS = 3;
    private static final long SERVICE_NS = 100;
    private static final int MESSAGES = 30 * 60;

    private final UnsafeBuffer record = new UnsafeBuffer(new byte[PacedExchange.RECORD_LENGTH]);

    /** Hosts have booted at different times: their clocks are days apart. */
    @ParameterizedTest
    @ValueSource(longs = {0, 100_000_000_000_000L})
    void shouldSettleAtWhatReceiversTake(long apartNs) {
        PacedExchange[] all = new PacedExchange[SENDERS];
        long[] next = new long[SENDERS];
        long[] acked = new long[SENDERS];
        long[][] arrivals = new long[SENDERS][MESSAGES];
        long[] freeAt = new long[RECEIVERS];
        DfsParameters parameters = DfsParameters.PAPER.intervals(30, 3);
        for (int i = 0; i < SENDERS; i++) {
            all[i] = new PacedExchange(parameters, SENDERS, RECEIVERS, i);
        }
        // 30 messages of each of 4 senders, 3 receivers at 100 ns: 4,000 ns an interval.
        long ideal = 30 * SENDERS * SERVICE_NS / RECEIVERS;
        long time = 0;
        while (acked[0] + acked[1] + acked[2] + acked[3] < SENDERS * MESSAGES) {
            for (int i = 0; i < SENDERS; i++) {
                long now = time + i * apartNs;
                while (acked[i] < next[i] && arrivals[i][(int) acked[i]] <= time) {
                    all[i].onAcknowledged(acked[i]++, now);
                }
                while (all[i].takeRecord(record, 0, now)) {
                    for (int r = 0; r < SENDERS; r++) {
                        all[r].onRecord(record, 0, 0, time + r * apartNs);
                    }
                }
                if (next[i] < MESSAGES && all[i].dueNs(next[i], now) <= now) {
                    int receiver = all[i].receiver(next[i]);
                    freeAt[receiver] = Math.max(freeAt[receiver], time) + SERVICE_NS;
                    arrivals[i][(int) next[i]] = freeAt[receiver];
                    all[i].onSent(next[i]++, now);
                }
            }
            time += 10;
            assertThat(time).isLessThan(60 * ideal * 12 / 10);
        }
        for (PacedExchange each : all) {
            assertThat(each.pacer().open()).isEqualTo(59);
            assertThat(each.pacer().plannedDurationNs()).isBetween(ideal * 9 / 10, ideal * 12 / 10);
            assertThat(each.pacer().improvisedCount()).isLessThan(10);
        }
    }

    @Test
    void shouldRefuseRecordsOfOthers() {
        PacedExchange exchange = new PacedExchange(DfsParameters.PAPER, 2, 2, 0);
        record.putLong(0, 2);
        assertThatThrownBy(() -> exchange.onRecord(record, 0, 0, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("sender 2");
        record.putLong(0, 1);
        record.putLong(8, -1);
        assertThatThrownBy(() -> exchange.onRecord(record, 0, 0, 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * The figure of merit is a proposal for 384 inputs in less than 100 us; no time is asserted.
     */
    @Test
    void shouldAllocateNothingForAProposal() {
        IntervalRanges ranges = new IntervalRanges(10_000, 384);
        ScheduleEngine engine = new ScheduleEngine(DfsParameters.PAPER, 384, ranges);
        IntervalMetadata measured = new IntervalMetadata();
        long[] interval = new long[1];
        AllocationMeter.requireNone(
                () -> {
                    for (int n = 0; n < 50; n++) {
                        long x = interval[0]++;
                        for (int i = 0; i < 384; i++) {
                            measured.set(x, 1, 0, 0, x * 1000 + i % 7, 990 + i % 13);
                            engine.onReport(
                                    i, measured, x + 2, x * 1000 + 1000, 5, x * 1000 + 1005);
                        }
                        engine.answer(0, measured);
                    }
                });
        assertThat(engine.proposer().lastProposed()).isEqualTo(interval[0] + 1);
    }
}
