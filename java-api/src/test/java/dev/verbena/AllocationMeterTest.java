package dev.verbena;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class AllocationMeterTest {
    private static final int OPERATIONS = 10_000;

    private Object kept;
    private long sum;

    /** Allocates once in so many operations; never if 0. */
    private void operations(int every) {
        for (int i = 1; i <= OPERATIONS; i++) {
            sum += i;
            if (every != 0 && i % every == 0) {
                kept = new Object();
            }
        }
    }

    @Test
    void shouldPassALoopThatAllocatesNothing() {
        assertThat(AllocationMeter.requireNone(() -> operations(0))).isPositive();
        assertThat(sum).isPositive();
    }

    @Test
    void shouldFindOneAllocationInEachRound() {
        assertThatThrownBy(
                        () ->
                                AllocationMeter.requireNoneIn(
                                        () -> AllocationMeter.bytes(() -> operations(OPERATIONS)),
                                        0))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith(
                        "each of " + AllocationMeter.ROUNDS_MIN + " rounds allocates; the least: ");
        assertThat(kept).isNotNull();
    }

    @Test
    void shouldLookOnAsLongAsTheLimitLasts() {
        int[] rounds = new int[1];
        // The fiftieth is the first without.
        int run =
                AllocationMeter.requireNoneIn(
                        () -> ++rounds[0] < 50 ? 24 : 0, AllocationMeter.LIMIT_NS);
        assertThat(run).isEqualTo(50);
    }

    @Test
    void shouldStopAtTheFirstRoundThatAllocatesNothing() {
        int[] rounds = new int[1];
        assertThat(AllocationMeter.requireNoneIn(() -> ++rounds[0] == 3 ? 0 : 48)).isEqualTo(3);
        assertThat(rounds[0]).isEqualTo(3);
    }

    @Test
    void shouldNameTheLeastAndTheLastRounds() {
        int[] rounds = new int[1];
        assertThatThrownBy(() -> AllocationMeter.requireNoneIn(() -> 100 - rounds[0]++, 0))
                .hasMessage(
                        "each of 10 rounds allocates; the least: 91 bytes, the last ten: "
                                + "[100, 99, 98, 97, 96, 95, 94, 93, 92, 91]");
    }
}
