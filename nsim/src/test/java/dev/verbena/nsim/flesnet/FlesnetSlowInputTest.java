package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.MicrosliceSink;
import dev.verbena.flesnet.MicrosliceSource;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A run in which one input becomes slower than the others. */
@Timeout(120)
class FlesnetSlowInputTest {
    private static final int NODES = 4;

    /** Against this the few timeslices that the others have in their rings count little. */
    private static final int LENGTH = 200;

    private static final int HISTORY = 4;
    private static final int SLOW = 2;

    /** With less, others begin an interval early, and their durations vary by that. */
    private static final int THETA = 100;

    private static final int FROM = 20;
    private static final int UNTIL = 50;
    private static final long PERIOD_NS = 10_000;

    private final long[][] measuredNs = new long[NODES][UNTIL];
    private final long[][] plannedNs = new long[NODES][UNTIL];
    private final long[] last = {-1, -1, -1, -1};
    private long aheadMax;

    /** Empty microslices; waits for room. */
    private static final class RatedSource implements MicrosliceSource {
        private final UnsafeBuffer content = new UnsafeBuffer(new byte[64]);
        private final int input;
        private long dueNs;
        private int made;

        RatedSource(int input) {
            this.input = input;
        }

        @Override
        public int poll(MicrosliceSink sink, long nowNs) {
            dueNs = made == 0 && dueNs == 0 ? nowNs : dueNs;
            if (isEnded() || dueNs - nowNs > 0 || !sink.hasRoom(64)) {
                return 0;
            }
            sink.add(input, 0, 0xF0, 0x81, made, 0, content, 0, 64);
            made++;
            boolean isSlow = input == SLOW && made >= FROM * LENGTH;
            dueNs += isSlow ? PERIOD_NS * 5 / 4 : PERIOD_NS;
            return 1;
        }

        @Override
        public boolean isEnded() {
            return made == UNTIL * LENGTH;
        }

        @Override
        public long nextDueNs() {
            return isEnded() || dueNs == 0 ? NEVER : dueNs;
        }
    }

    private void run() {
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        1,
                        TreeTopology.single(2 * NODES),
                        new NetworkContext(),
                        c ->
                                c.nodes(NODES, NODES)
                                        .timeslice(1, 0)
                                        .rings(12, 3)
                                        .sourceRing(12, 5)
                                        .intervals(
                                                (input, measured, planned) -> {
                                                    onInterval(
                                                            input,
                                                            (int) measured.interval(),
                                                            measured.durationNs(),
                                                            planned);
                                                    return measured.durationNs();
                                                })
                                        .dfs(
                                                DfsParameters.PAPER
                                                        .intervals(LENGTH, HISTORY)
                                                        .theta(THETA),
                                                1))) {
            for (int c = 0; c < NODES; c++) {
                simulation.compute(Timeslice::release);
            }
            for (int i = 0; i < NODES; i++) {
                simulation.input(new RatedSource(i));
            }
            assertThat(simulation.run(10_000_000_000L)).as(simulation.failure()).isTrue();
        }
    }

    private void onInterval(int input, int interval, long measured, long planned) {
        measuredNs[input][interval] = measured;
        plannedNs[input][interval] = planned;
        last[input] = interval;
        for (long other : last) {
            aheadMax = Math.max(aheadMax, interval - other);
        }
    }

    @Test
    @Tag("flesnet-41")
    void shouldFollowTheSlowestInput() {
        run();
        long before = measuredNs[0][FROM - 2];
        // Until then the others have tickets left from before.
        for (int j = FROM + 3; j < UNTIL - 1; j++) {
            long slow = measuredNs[SLOW][j];
            assertThat(slow).isBetween(before * 115 / 100, before * 130 / 100);
            for (int i = 0; i < NODES; i++) {
                assertThat(measuredNs[i][j])
                        .as("input %s, interval %s", i, j)
                        .isBetween(slow * 95 / 100, slow * 105 / 100);
            }
        }
        for (int j = FROM + HISTORY / 2 + 3; j < UNTIL - 1; j++) {
            for (int i = 0; i < NODES; i++) {
                // Five percent less is asked for while the network is relaxed.
                assertThat(plannedNs[i][j])
                        .as("input %s, interval %s", i, j)
                        .isBetween(
                                measuredNs[SLOW][j - 2] * 90 / 100,
                                measuredNs[SLOW][j - 2] * 105 / 100);
            }
        }
        assertThat(aheadMax).isLessThanOrEqualTo(2);
    }
}
