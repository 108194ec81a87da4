package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.scenario.SeededRandom;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FairSharesTest {
    private static final long CAPACITY = FlowTable.capacity(4_000_000_000L);
    private static final double CLOSE = 1e-5;

    private final FlowTable flows = new FlowTable(12);
    private final FairShares shares = new FairShares(flows);

    private int add(long weight, int... resources) {
        int row = flows.add(0, 1_000_000, 0);
        for (int r : resources) {
            flows.use(row, r, weight);
        }
        shares.touch(row);
        return row;
    }

    private void remove(int row) {
        shares.touch(row);
        flows.remove(row);
    }

    private void solve() {
        int looked = shares.solve();
        for (int i = 0; i < looked; i++) {
            int row = shares.flow(i);
            flows.proceed(row, 0, shares.levelOf(row));
        }
        shares.done();
    }

    private void capacities(long... values) {
        System.arraycopy(values, 0, flows.capacity, 0, values.length);
    }

    private double part(int row, long weight) {
        return (double) flows.level[row] * weight / CAPACITY;
    }

    @Test
    void shouldGiveWhatAnotherCannotUseToTheRest() {
        capacities(CAPACITY, CAPACITY / 4);
        int narrow = add(100, 0, 1);
        int wide = add(100, 0);
        int alsoWide = add(100, 0);
        solve();
        assertThat(part(narrow, 100)).isCloseTo(0.25, byTolerance());
        assertThat(part(wide, 100)).isCloseTo(0.375, byTolerance());
        remove(alsoWide);
        solve();
        assertThat(part(narrow, 100)).isCloseTo(0.25, byTolerance());
        assertThat(part(wide, 100)).isCloseTo(0.75, byTolerance());
        remove(narrow);
        solve();
        assertThat(part(wide, 100)).isCloseTo(1, byTolerance());
    }

    @Test
    void shouldTakeTurnsByPacketsSoThatLargeOnesGetMoreBytes() {
        capacities(CAPACITY);
        int large = add(300, 0);
        int small = add(100, 0);
        solve();
        assertThat(part(large, 300)).isCloseTo(0.75, byTolerance());
        assertThat(part(small, 100)).isCloseTo(0.25, byTolerance());
    }

    private static org.assertj.core.data.Offset<Double> byTolerance() {
        return org.assertj.core.data.Offset.offset(CLOSE);
    }

    /** Flows come and go; after each change all of them must have their max-min fair share. */
    @Test
    void shouldStayMaxMinFairWhateverComesAndGoes() {
        for (long seed = 1; seed <= 40; seed++) {
            SeededRandom random = new SeededRandom(seed);
            FairSharesTest fresh = new FairSharesTest();
            fresh.comeAndGo(random, seed);
        }
    }

    private void comeAndGo(SeededRandom random, long seed) {
        List<Integer> rows = new ArrayList<>();
        for (int r = 0; r < flows.capacity.length; r++) {
            flows.capacity[r] = CAPACITY / (1 + random.below(3));
        }
        for (int step = 0; step < 150; step++) {
            for (int change = random.below(3); change >= 0; change--) {
                if (rows.size() > 20 || !rows.isEmpty() && random.below(3) == 0) {
                    remove(rows.remove(random.below(rows.size())));
                } else {
                    int[] order = random.permutation(flows.capacity.length);
                    int[] way = java.util.Arrays.copyOf(order, 1 + random.below(4));
                    rows.add(add(50 + random.below(200), way));
                }
            }
            solve();
            for (int row : rows) {
                assertThat(hasBottleneck(row)).as("seed %d, step %d", seed, step).isTrue();
            }
        }
    }

    /** A resource that is used up, and on which nobody has more. */
    private boolean hasBottleneck(int row) {
        boolean has = false;
        for (int i = 0; i < flows.cells[row]; i++) {
            int r = flows.resource[row * flows.stride + i];
            long used = 0;
            long most = 0;
            for (int c = flows.first[r]; c != FlowTable.NONE; c = flows.next[c]) {
                long level = flows.level[c / flows.stride];
                used += level * flows.weight[c];
                most = Math.max(most, level);
            }
            assertThat(used).isEqualTo(flows.used[r]).isLessThanOrEqualTo(flows.capacity[r]);
            has |= used > flows.capacity[r] * (1 - CLOSE) && flows.level[row] > most * (1 - CLOSE);
        }
        return has;
    }
}
