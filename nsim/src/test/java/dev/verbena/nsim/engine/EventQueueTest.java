package dev.verbena.nsim.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.scenario.SeededRandom;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Beside a queue that only sorts. */
@Timeout(60)
class EventQueueTest {
    private record Event(long time, long entities, long order, long argument) {}

    private static final Comparator<Event> ORDER =
            Comparator.comparingLong(Event::time)
                    .thenComparingLong(Event::entities)
                    .thenComparingLong(Event::order);

    private final EventQueue queue = new EventQueue();
    private final PriorityQueue<Event> expected = new PriorityQueue<>(ORDER);
    private long order;

    private void add(long time, long entities) {
        Event event = new Event(time, entities, order++, time ^ entities);
        queue.add(event.time, event.entities, event.order, event.argument);
        expected.add(event);
    }

    private long remove() {
        Event event = expected.poll();
        assertThat(queue.isEmpty()).isFalse();
        assertThat(queue.firstTime()).isEqualTo(event.time);
        assertThat(queue.firstEntities()).isEqualTo(event.entities);
        assertThat(queue.firstOrder()).isEqualTo(event.order);
        assertThat(queue.firstArgument()).isEqualTo(event.argument);
        queue.removeFirst();
        assertThat(queue.size()).isEqualTo(expected.size());
        return event.time;
    }

    /** Near, within the ring of buckets, at its end, and far; bursts, and until it is empty. */
    @Test
    @Tag("nsim-1")
    void shouldKeepTheTotalOrderWhateverTheDistances() {
        long[] distances = {1, 3_000, 1_000_000, 8_400_000, 50_000_000, 2_000_000_000_000L};
        SeededRandom random = new SeededRandom(11);
        long now = 0;
        for (int round = 0; round < 3_000; round++) {
            int burst = random.below(random.below(10) == 0 ? 200 : 12);
            for (int i = 0; i < burst; i++) {
                long distance = distances[random.below(distances.length)];
                long ahead = (long) random.below(1 << 20) * distance >>> 20;
                add(now + ahead, random.below(5));
            }
            int gone = random.below(20) == 0 ? expected.size() : random.below(2 * burst + 1);
            for (int i = 0; i < gone && !expected.isEmpty(); i++) {
                now = remove();
            }
        }
        while (!expected.isEmpty()) {
            remove();
        }
        assertThat(queue.isEmpty()).isTrue();
        assertThat(order).isGreaterThan(20_000);
    }

    /** At one instant, over the ring of buckets, and behind it. */
    @Test
    void shouldGrowWithWhatIsInIt() {
        for (long distance : new long[] {0, 1_000, 10_000_000}) {
            for (int i = 5_000; i > 0; i--) {
                add(i * distance, i);
            }
        }
        while (!expected.isEmpty()) {
            remove();
        }
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void shouldTakeTimesBeforeThoseThatItHasReached() {
        add(Long.MAX_VALUE, 1);
        add(0, 2);
        add(Long.MAX_VALUE - 1, 3);
        for (int i = 0; i < 3; i++) {
            remove();
        }
        // It is empty, and begins anew at an earlier time.
        add(7, 1);
        add(5, 1);
        add(1L << 40, 1);
        for (int i = 0; i < 3; i++) {
            remove();
        }
        assertThat(queue.isEmpty()).isTrue();
    }
}
