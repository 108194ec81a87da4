package dev.verbena.flesnet.dfs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class MediansTest {
    @Test
    void shouldAnswerWhatSortingDoes() {
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 20_000; round++) {
            int count = 1 + random.nextInt(40);
            int bound = 1 + random.nextInt(50);
            long[] values = random.longs(count + 3, -bound, bound).toArray();
            long[] sorted = Arrays.copyOf(values, count);
            Arrays.sort(sorted);
            long high = sorted[count / 2];
            long low = count % 2 == 1 ? high : sorted[count / 2 - 1];
            assertThat(Medians.of(values, count)).isEqualTo(Math.floorDiv(low + high, 2L));
        }
    }

    @Test
    void shouldAnswerTheMedianOfExtremeValues() {
        assertThat(Medians.of(new long[] {Long.MAX_VALUE, Long.MIN_VALUE, 0}, 3)).isZero();
        assertThat(Medians.of(new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 2}, 2))
                .isEqualTo(Long.MAX_VALUE - 1);
    }

    /** More values than a machine's vector instructions sort without memory of their own. */
    @Test
    void shouldAllocateNothing() {
        long[] source = new SplittableRandom(1).longs(4096).toArray();
        long[] values = new long[source.length];
        AllocationMeter.requireNone(
                () -> {
                    System.arraycopy(source, 0, values, 0, values.length);
                    Medians.of(values, values.length);
                });
    }
}
