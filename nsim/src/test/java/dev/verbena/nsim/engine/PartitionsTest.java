package dev.verbena.nsim.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PartitionsTest {
    private static final int ENTITIES = 24;
    private static final long LOOKAHEAD_PS = 100;
    private static final long END_PS = 20_000;
    private static final Partitions.WindowHandler QUIET = (time, events, done) -> {};

    /** Each entity has a state that each of its events changes, and passes on. */
    private static final class Mill {
        final long[] state = new long[ENTITIES];
        final List<Engine> engines = new ArrayList<>();

        void attachTo(Engine engine) {
            engines.add(engine);
            engine.handler(
                    0,
                    (time, target, argument) -> {
                        state[target] = (state[target] + argument) * 0x9e3779b97f4a7c15L + time;
                        long next = state[target] >>> 40;
                        if (time < END_PS) {
                            int to = (int) (next % ENTITIES);
                            long when = time + LOOKAHEAD_PS + next % 7;
                            engine.schedule(when, to, target, 0, next);
                        }
                    });
        }

        void start(int[] owners) {
            for (int i = 0; i < ENTITIES; i++) {
                engines.get(owners[i]).schedule(i % 5, i, i, 0, i);
            }
        }
    }

    private static int[] owners(int count) {
        int[] owners = new int[ENTITIES];
        for (int i = 0; i < ENTITIES; i++) {
            owners[i] = i % count;
        }
        return owners;
    }

    @Test
    @Tag("nsim-6")
    void shouldDoWhatOneEngineDoesWithAnyNumberOfPartitionsAndThreads() {
        Mill alone = new Mill();
        Engine engine = new Engine(ENTITIES);
        alone.attachTo(engine);
        alone.start(new int[ENTITIES]);
        engine.run();
        ExecutorService executor = Executors.newCachedThreadPool();
        try {
            for (int count : new int[] {1, 2, 3, 8}) {
                for (int threads : new int[] {1, 2, 3}) {
                    Mill mill = new Mill();
                    Partitions partitions = new Partitions(owners(count), count, LOOKAHEAD_PS);
                    for (int p = 0; p < count; p++) {
                        mill.attachTo(partitions.engine(p));
                    }
                    mill.start(owners(count));
                    partitions.run(threads, executor::execute, p -> 0, QUIET);
                    assertThat(mill.state).isEqualTo(alone.state);
                    assertThat(partitions.traceHash()).isEqualTo(engine.traceHash());
                    assertThat(partitions.eventCount()).isEqualTo(engine.eventCount());
                }
            }
        } finally {
            executor.shutdownNow();
        }
        assertThat(engine.eventCount()).isGreaterThan(1_000);
    }

    @Test
    @Tag("nsim-5")
    void shouldRefuseAnEventNearerThanTheLookaheadAndNameBothEntities() {
        Partitions partitions = new Partitions(new int[] {0, 1}, 2, LOOKAHEAD_PS);
        Engine first = partitions.engine(0);
        first.handler(
                0,
                (time, target, argument) ->
                        first.schedule(time + LOOKAHEAD_PS - 1, 1, target, 0, 0));
        partitions.engine(1).handler(0, (time, target, argument) -> {});
        first.schedule(40, 0, 0, 0, 0);
        assertThatThrownBy(() -> partitions.run(1, null, p -> 0, QUIET))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("entity 0 of partition 0")
                .hasMessageContaining("entity 1 of partition 1")
                .hasMessageContaining("139 ps")
                .hasMessageContaining("lookahead of 100 ps");
    }

    @Test
    void shouldEndOnAllThreadsWhenOnePartitionFails() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            for (int i = 0; i < 40; i++) {
                failOnce(executor);
            }
        } finally {
            executor.shutdownNow();
        }
    }

    private static void failOnce(ExecutorService executor) {
        Partitions partitions = new Partitions(new int[] {0, 1}, 2, LOOKAHEAD_PS);
        for (int p = 0; p < 2; p++) {
            Engine engine = partitions.engine(p);
            engine.handler(
                    0,
                    (time, target, argument) -> {
                        if (target == 1 && time > 500) {
                            throw new IllegalStateException("of entity 1");
                        }
                        engine.schedule(time + 10, target, target, 0, 0);
                    });
            engine.schedule(0, p, p, 0, 0);
        }
        assertThatThrownBy(() -> partitions.run(2, executor::execute, p -> 0, QUIET))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("of entity 1");
    }

    @Test
    void shouldEndOnAllThreadsWhenTheReceiverOfProgressFails() throws Exception {
        for (int told = 1; told <= 3; told++) {
            int failing = told;
            AtomicInteger calls = new AtomicInteger();
            assertFails(
                    task -> {},
                    (time, events, done) -> {
                        if (calls.incrementAndGet() == failing) {
                            throw new IllegalStateException("on purpose");
                        }
                    });
        }
    }

    @Test
    void shouldEndOnAllThreadsWhenOneCannotBeStarted() throws Exception {
        for (int started = 0; started <= 1; started++) {
            AtomicInteger left = new AtomicInteger(started);
            assertFails(
                    task -> {
                        if (left.getAndDecrement() == 0) {
                            throw new IllegalStateException("on purpose");
                        }
                    },
                    QUIET);
        }
    }

    /** Three threads that would run for long. */
    private static void assertFails(
            Consumer<Runnable> beforeStart, Partitions.WindowHandler progress) throws Exception {
        Partitions partitions = new Partitions(owners(3), 3, LOOKAHEAD_PS);
        for (int p = 0; p < 3; p++) {
            Engine engine = partitions.engine(p);
            engine.handler(
                    0,
                    (time, target, argument) -> {
                        if (argument > 1) {
                            engine.schedule(time + LOOKAHEAD_PS, target, target, 0, argument - 1);
                        }
                    });
            engine.schedule(0, p, p, 0, 1_500);
        }
        ExecutorService executor = Executors.newCachedThreadPool();
        Consumer<Runnable> helpers = beforeStart.andThen(executor::execute);
        assertThatThrownBy(() -> partitions.run(3, helpers, p -> 0, progress))
                .hasMessage("on purpose");
        executor.shutdown();
        assertThat(executor.awaitTermination(5, TimeUnit.SECONDS)).isTrue();
    }

    /** Each thread of a parallel run, barriers and what crosses borders included. */
    @Test
    @Tag("nsim-3")
    void shouldAllocateNothingPerEventInAnyThread() {
        int entities = 1000;
        int parts = 4;
        int windows = 240;
        int[] owners = new int[entities];
        for (int i = 0; i < entities; i++) {
            owners[i] = i % parts;
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[][] allocated = new long[parts][windows];
        Partitions partitions = new Partitions(owners, parts, LOOKAHEAD_PS);
        for (int p = 0; p < parts; p++) {
            Engine engine = partitions.engine(p);
            engine.handler(
                    0,
                    (time, target, argument) -> {
                        int window = (int) (time / LOOKAHEAD_PS);
                        if (target < parts) {
                            allocated[target][window] = threads.getCurrentThreadAllocatedBytes();
                        }
                        if (window + 1 < windows) {
                            // A probe stays where it is, the others go round.
                            int to =
                                    target < parts ? target : parts + (target + 7) % (entities - 4);
                            engine.schedule(time + LOOKAHEAD_PS, to, target, 0, argument);
                        }
                    });
        }
        for (int i = 0; i < entities; i++) {
            partitions.engine(owners[i]).schedule(i % LOOKAHEAD_PS, i, i, 0, i);
        }
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            partitions.run(2, executor::execute, p -> 0, QUIET);
        } finally {
            executor.shutdownNow();
        }
        assertThat(partitions.eventCount()).isEqualTo((long) entities * windows);
        int stretch = 40;
        for (int p = 0; p < parts; p++) {
            long least = Long.MAX_VALUE;
            for (int from = stretch; from + stretch < windows; from++) {
                long delta = allocated[p][from + stretch] - allocated[p][from];
                least = Math.min(least, delta);
            }
            assertThat(least).as("partition %d, %d windows", p, stretch).isZero();
        }
    }

    /** At the first window, at each 1,024th, and at the end: over all threads' partitions. */
    @Test
    void shouldTellTheCallerHowFarItIs() {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try {
            for (int threads : new int[] {1, 2}) {
                Partitions partitions = new Partitions(owners(3), 3, LOOKAHEAD_PS);
                for (int p = 0; p < 3; p++) {
                    Engine engine = partitions.engine(p);
                    engine.handler(
                            0,
                            (time, target, argument) -> {
                                if (argument > 1) {
                                    long next = time + LOOKAHEAD_PS;
                                    engine.schedule(next, target, target, 0, argument - 1);
                                }
                            });
                    engine.schedule(0, p, p, 0, 1_500);
                }
                List<String> told = new ArrayList<>();
                partitions.run(
                        threads,
                        executor::execute,
                        p -> partitions.engine(p).eventCount() * (p + 1),
                        (time, events, done) -> told.add(time + " " + events + " " + done));
                assertThat(told).containsExactly("0 0 0", "102400 3072 6144", "149900 4500 9000");
            }
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void shouldCarryAcrossABorderWhatIsAttachedToAnEvent() {
        Partitions partitions = new Partitions(new int[] {0, 1}, 2, LOOKAHEAD_PS);
        Engine first = partitions.engine(0);
        Engine second = partitions.engine(1);
        assertThat(first.isElsewhere(0)).isFalse();
        assertThat(first.isElsewhere(1)).isTrue();
        assertThat(new Engine(2).isElsewhere(1)).isFalse();
        List<String> seen = new ArrayList<>();
        first.handler(
                0,
                (time, target, argument) -> {
                    for (int i = 1; i <= 2; i++) {
                        first.schedule(time + LOOKAHEAD_PS * i, 1, 0, 1, i);
                        first.attach(10 * i, 20 * i, 30 * i, 40 * i);
                    }
                });
        second.arrivalHandler(
                (kind, argument, a, b, c, d) -> {
                    seen.add(kind + ":" + argument + ":" + a + ":" + b + ":" + c + ":" + d);
                    return -argument;
                });
        second.handler(1, (time, target, argument) -> seen.add(time + ":" + argument));
        first.schedule(7, 0, 0, 0, 0);
        partitions.run(1, null, p -> 0, QUIET);
        assertThat(seen).containsExactly("1:1:10:20:30:40", "1:2:20:40:60:80", "107:-1", "207:-2");
    }

    @Test
    void shouldTakeTheLeastThatCanBeDivided() {
        assertThat(new Partitions(new int[] {0}, 1, 1).count()).isEqualTo(1);
        assertThat(new Partitions(new int[] {0, 1}, 2, 1).count()).isEqualTo(2);
        assertThatThrownBy(() -> new Partitions(new int[] {}, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("0 partitions");
    }

    @Test
    void shouldRefuseToDivideWhatHasNoLookahead() {
        assertThatThrownBy(() -> new Partitions(new int[] {0, 1}, 2, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("lookahead of 0 ps");
    }
}
