package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DeliveredNumbersTest {
    private static final long GENERATION = 1L << DeliveredNumbers.GENERATION_SHIFT;

    @Test
    @Tag("dart-F7")
    void shouldKnowWhatCameAndNotTakeLowerNumbersForKnown() {
        long seed = Long.getLong("verbena.seed", 124);
        for (int round = 0; round < 300; round++) {
            SplittableRandom random = new SplittableRandom(seed + round);
            DeliveredNumbers numbers = new DeliveredNumbers();
            TreeSet<Long> came = new TreeSet<>();
            TreeSet<Long> firsts = new TreeSet<>();
            for (int generation = 0; generation < 20; generation += 1 + random.nextInt(4)) {
                long next = generation * GENERATION + 1 + random.nextInt(5);
                for (int i = random.nextInt(10); i >= 0; i--, next++) {
                    next += random.nextInt(8) == 0 ? 1 : 0;
                    if (!came.contains(next - 1)) {
                        firsts.add(next);
                    }
                    numbers.add(next);
                    came.add(next);
                }
                numbers.add(came.last() - 1);
            }
            DeliveredNumbers again = new DeliveredNumbers();
            for (int i = 0; i < numbers.rangeCount(); i++) {
                again.restore(numbers.from(i), numbers.upTo(i));
                again.restore(numbers.from(i), numbers.upTo(i));
            }
            for (long generation = 0; generation < 21; generation++) {
                for (long low = 0; low < 30; low++) {
                    long number = generation * GENERATION + low;
                    assertThat(numbers.contains(number))
                            .as("seed %d, round %d, number %d, %s", seed, round, number, came)
                            .isEqualTo(came.contains(number));
                    assertThat(again.contains(number)).isEqualTo(came.contains(number));
                }
            }
            assertThat(numbers.highest()).isEqualTo(came.last()).isEqualTo(again.highest());
            assertThat(numbers.rangeCount()).isEqualTo(firsts.size());
        }
    }

    @Test
    void shouldNotTakeWhatWasLeftOutForKnownAfterARestartEither() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        for (long came : new long[] {1, 2, 3, 5, 6}) {
            numbers.add(came);
        }
        assertThat(numbers.contains(4)).isFalse();
        assertThat(numbers.floor(6)).isEqualTo(6);
        // 5 is in memory only, so its journal goes up to what came before.
        assertThat(numbers.floor(4)).isEqualTo(3);
        assertThat(numbers.floor(0)).isZero();
        DeliveredNumbers again = new DeliveredNumbers();
        again.restore(1, 3);
        again.extend(numbers.floor(4));
        assertThat(again.contains(4)).isFalse();
        again.restore(5, 5);
        again.extend(6);
        assertThat(again.contains(4)).isFalse();
        assertThat(again.contains(6)).isTrue();
    }

    @Test
    void shouldForgetTheOldestRegistrationsAndStayBounded() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        int count = 3 * DeliveredNumbers.RANGES_MAX;
        for (long generation = 0; generation < count; generation++) {
            numbers.add(generation * GENERATION + 1);
        }
        assertThat(numbers.rangeCount()).isEqualTo(DeliveredNumbers.RANGES_MAX);
        assertThat(numbers.contains(1)).isFalse();
        assertThat(numbers.contains((count - 1) * GENERATION + 1)).isTrue();
    }
}
