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
                firsts.add(next);
                for (int i = random.nextInt(10); i >= 0; i--, next++) {
                    numbers.add(next);
                    came.add(next);
                }
                numbers.add(next - 2);
            }
            DeliveredNumbers again = new DeliveredNumbers();
            for (int i = 0; i < numbers.rangeCount(); i++) {
                again.restore(numbers.from(i), numbers.upTo(i));
                again.restore(numbers.from(i), numbers.upTo(i));
            }
            for (long generation = 0; generation < 21; generation++) {
                for (long low = 0; low < 20; low++) {
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
