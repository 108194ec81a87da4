package dev.verbena.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DeliveredNumbersTest {
    private static final long GENERATION = 1L << DeliveredNumbers.GENERATION_SHIFT;

    @Test
    @Tag("seeded")
    @Tag("dart-F7")
    void shouldKnowWhatCameAndNotTakeLowerNumbersForKnown() {
        long seed = Long.getLong("verbena.seed", 124);
        for (int round = 0; round < 300; round++) {
            SplittableRandom random = new SplittableRandom(seed + round);
            DeliveredNumbers numbers = new DeliveredNumbers();
            TreeSet<Long> came = new TreeSet<>();
            for (int generation = 0; generation < 20; generation += 1 + random.nextInt(4)) {
                long next = generation * GENERATION + 1 + random.nextInt(5);
                for (int i = random.nextInt(10); i >= 0; i--, next++) {
                    next += random.nextInt(8) == 0 ? 1 : 0;
                    numbers.add(next);
                    came.add(next);
                }
                for (int i = random.nextInt(4); i > 0; i--) {
                    // Left out before, or one that has come.
                    long lower = came.last() - random.nextInt(5);
                    numbers.add(lower);
                    if (lower > 0) {
                        came.add(lower);
                    }
                }
            }
            long firsts = came.stream().filter(n -> !came.contains(n - 1)).count();
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
            assertThat(numbers.rangeCount()).isEqualTo((int) firsts);
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
    void shouldTellTheJournalOfWhatCameLate() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        for (long came : new long[] {5, 7, 10}) {
            numbers.add(came);
        }
        DeliveredNumbers journal = tell(numbers, new DeliveredNumbers(), 10);
        assertThat(numbers.hasNews()).isFalse();
        numbers.add(7);
        numbers.add(0);
        assertThat(numbers.hasNews()).isFalse();
        numbers.add(6);
        // It is in memory only, so its journal goes up to what is before.
        tell(numbers, journal, 5);
        assertThat(journal.contains(6)).isFalse();
        assertThat(numbers.hasNews()).isTrue();
        tell(numbers, journal, 10);
        assertThat(numbers.hasNews()).isFalse();
        assertThat(LongStream.range(0, 12).filter(journal::contains))
                .containsExactly(5L, 6L, 7L, 10L);
        assertThat(journal.rangeCount()).isEqualTo(2);
        numbers.add(9);
        numbers.add(3);
        tell(numbers, journal, 10);
        assertThat(LongStream.range(0, 12).filter(journal::contains))
                .containsExactly(3L, 5L, 6L, 7L, 9L, 10L);
    }

    private static DeliveredNumbers tell(
            DeliveredNumbers numbers, DeliveredNumbers journal, long upTo) {
        numbers.told(upTo);
        for (int i = 0; i < numbers.rangeCount() && numbers.from(i) <= upTo; i++) {
            journal.restore(numbers.from(i), Math.min(upTo, numbers.upTo(i)));
        }
        return journal;
    }

    @Test
    void shouldForgetTheOldestWhenThereAreTooManyRanges() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        for (long i = 1; i <= DeliveredNumbers.RANGES_MAX; i++) {
            numbers.add(10 * i);
        }
        assertThat(numbers.isForgotten(5)).isTrue();
        numbers.add(5);
        assertThat(numbers.contains(5)).isFalse();
        assertThat(numbers.isForgotten(15)).isFalse();
        numbers.add(25);
        assertThat(numbers.isForgotten(10)).isTrue();
        assertThat(numbers.contains(10)).isFalse();
        assertThat(LongStream.of(20, 25, 30, 640)).allMatch(numbers::contains);
        assertThat(numbers.rangeCount()).isEqualTo(DeliveredNumbers.RANGES_MAX);
        numbers.restore(21, 639);
        assertThat(numbers.rangeCount()).isEqualTo(3);
        assertThat(numbers.isForgotten(10)).isFalse();
        assertThat(LongStream.of(20, 21, 639, 640)).allMatch(numbers::contains);
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

    @Test
    void shouldTakeWhatIsBeforeForKnownWithinARegistrationOnly() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        numbers.extend(5);
        assertThat(numbers.contains(4)).isFalse();
        numbers.extend(9);
        assertThat(numbers.contains(7)).isTrue();
        numbers.told(9);
        numbers.extend(9);
        numbers.extend(8);
        numbers.add(9);
        assertThat(numbers.hasNews()).isFalse();
        assertThat(numbers.rangeCount()).isEqualTo(1);
        numbers.extend(GENERATION + 3);
        assertThat(numbers.hasNews()).isTrue();
        assertThat(numbers.rangeCount()).isEqualTo(2);
        assertThat(numbers.highest()).isEqualTo(GENERATION + 3);
        assertThat(numbers.contains(9)).isTrue();
        assertThat(numbers.contains(10)).isFalse();
        assertThat(numbers.contains(GENERATION + 2)).isFalse();
        assertThat(numbers.contains(GENERATION + 3)).isTrue();
        assertThat(numbers.floor(4)).isZero();
        assertThat(numbers.floor(5)).isEqualTo(5);
        assertThat(numbers.floor(GENERATION + 2)).isEqualTo(9);
        assertThat(numbers.floor(GENERATION + 3)).isEqualTo(GENERATION + 3);
        numbers.extend(GENERATION + 6);
        assertThat(numbers.contains(GENERATION + 5)).isTrue();
    }

    @Test
    void shouldRestoreRangesThatFollowEachOther() {
        DeliveredNumbers numbers = new DeliveredNumbers();
        numbers.restore(3, 5);
        numbers.restore(3, 7);
        numbers.restore(3, 4);
        assertThat(numbers.rangeCount()).isEqualTo(1);
        assertThat(numbers.upTo(0)).isEqualTo(7);
        numbers.restore(7, 8);
        assertThat(numbers.rangeCount()).as("it overlaps the last").isEqualTo(1);
        numbers.restore(9, 9);
        assertThat(numbers.rangeCount()).isEqualTo(2);
        assertThat(numbers.highest()).isEqualTo(9);
        for (int i = 0; i < DeliveredNumbers.RANGES_MAX; i++) {
            numbers.restore(100 + 10 * i, 105 + 10 * i);
        }
        assertThat(numbers.rangeCount()).isEqualTo(DeliveredNumbers.RANGES_MAX);
        for (int i = 0; i < DeliveredNumbers.RANGES_MAX; i++) {
            assertThat(numbers.from(i)).isEqualTo(100 + 10 * i);
            assertThat(numbers.upTo(i)).isEqualTo(105 + 10 * i);
        }
    }
}
