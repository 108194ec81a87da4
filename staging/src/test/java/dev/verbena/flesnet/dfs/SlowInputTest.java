package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.dfs.ExchangeModel.Measured;
import dev.verbena.flesnet.dfs.ExchangeModel.Used;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One input that is slower than the others. */
@Timeout(60)
class SlowInputTest {
    private static final int SLOW = 2;
    private static final int FROM = 20;
    private static final int UNTIL = 60;

    private static long measured(ExchangeModel model, int input, long interval) {
        return model.measured.stream()
                .filter(m -> m.input() == input && m.interval() == interval)
                .mapToLong(Measured::durationNs)
                .findFirst()
                .orElseThrow();
    }

    @Test
    @Tag("flesnet-41")
    void shouldFollowTheSlowestInput() {
        ExchangeModel model = new ExchangeModel().slow(SLOW, FROM).run(UNTIL);
        long before = measured(model, 0, FROM - 2);
        for (int j = FROM + 1; j < UNTIL - 1; j++) {
            long slow = measured(model, SLOW, j);
            assertThat(slow).isBetween(before * 115 / 100, before * 130 / 100);
            for (int i = 0; i < ExchangeModel.INPUTS; i++) {
                assertThat(measured(model, i, j))
                        .as("input %s, interval %s", i, j)
                        .isBetween(slow * 95 / 100, slow * 105 / 100);
            }
        }
        int history = ExchangeModel.PARAMETERS.history();
        for (Used each : model.used) {
            if (each.interval() >= FROM + history / 2 + 3) {
                // Five percent less is asked for while the network is relaxed.
                long slow = measured(model, SLOW, each.interval() - 2);
                assertThat(each.durationNs())
                        .as("interval %s", each.interval())
                        .isBetween(slow * 90 / 100, slow * 105 / 100);
            }
        }
        assertThat(model.aheadMax()).isLessThanOrEqualTo(2);
    }
}
