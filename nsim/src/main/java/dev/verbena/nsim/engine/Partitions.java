package dev.verbena.nsim.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.IntToLongFunction;
import org.agrona.concurrent.BackoffIdleStrategy;

/**
 * Several engines that run one simulation together, with the events, at the times, and in the order
 * for each entity, that one engine alone would have: conservatively, in windows. A window begins at
 * the earliest event of all partitions and is as long as the lookahead, the least time that passes
 * between what an entity does and what an entity of another partition notices of it. So nothing
 * that happens in a window can concern another partition in the same window, and empty stretches of
 * virtual time cost nothing. Events for others are in outboxes until the next window.
 *
 * <p>Entities of different partitions may share no state but by such events. One run; the caller's
 * thread is one of those that work.
 */
public final class Partitions {
    private static final int SPINS = 200;
    private static final int YIELDS = 20;
    private static final long PARK_MIN_NS = 1_000;
    private static final long PARK_MAX_NS = 50_000;
    private static final int SLOT = 8;
    private static final int WINDOWS_PER_PROGRESS = 1 << 10;

    private final Engine[] engines;
    private final PartitionOutboxes outboxes;
    private final long lookaheadPs;
    private final Throwable[] failures;

    /** Per parity and worker: the time of its first event, events processed, done, failed. */
    private final long[][] published = new long[2][];

    private final AtomicLong arrived = new AtomicLong();
    private int workers;
    private IntToLongFunction doneIn;

    /**
     * Partitions without events.
     *
     * @param owners the partition of each entity, from 0 to the count, exclusively
     * @param lookaheadPs at least 1
     */
    public Partitions(int[] owners, int count, long lookaheadPs) {
        if (count < 1 || lookaheadPs < 1) {
            throw new IllegalArgumentException(
                    ("%s partitions with a lookahead of %s ps; at least 1 of both is needed: a"
                                    + " router or cable must take time")
                            .formatted(count, lookaheadPs));
        }
        this.lookaheadPs = lookaheadPs;
        outboxes = new PartitionOutboxes(owners, count, lookaheadPs);
        engines = new Engine[count];
        failures = new Throwable[count];
        long[] sequences = new long[owners.length];
        for (int i = 0; i < count; i++) {
            engines[i] = new Engine(sequences, i, outboxes);
        }
    }

    /** How many there are. */
    public int count() {
        return engines.length;
    }

    /** The engine of a partition. */
    public Engine engine(int partition) {
        return engines[partition];
    }

    /** Events that all have processed. */
    public long eventCount() {
        long sum = 0;
        for (Engine engine : engines) {
            sum += engine.eventCount();
        }
        return sum;
    }

    /** As {@link Engine#traceHash()} of one engine with all the events. */
    public long traceHash() {
        long sum = 0;
        for (Engine engine : engines) {
            sum += engine.traceHash();
        }
        return sum;
    }

    /** Receives the progress of a run, on the caller's thread now and then. */
    @FunctionalInterface
    public interface WindowHandler {
        /** All events before {@code timePs} have been processed: {@code events} of them. */
        void onWindow(long timePs, long events, long done);
    }

    /**
     * Runs until there is no event left.
     *
     * @param threads how many work, the caller's included; more than there are partitions are not
     *     used
     * @param done how much a partition has done, for progress; called on its thread
     * @param helpers starts a task on another thread, beside the caller's, for {@code threads - 1}
     *     tasks at once; not used for one thread
     * @throws RuntimeException what a handler, progress or helpers threw; of several, the one of
     *     the lowest partition
     */
    public void run(
            int threads,
            Consumer<Runnable> helpers,
            IntToLongFunction done,
            WindowHandler progress) {
        doneIn = done;
        workers = Math.max(1, Math.min(threads, engines.length));
        published[0] = new long[workers * SLOT];
        published[1] = new long[workers * SLOT];
        int started = 1;
        try {
            while (started < workers) {
                int number = started;
                helpers.accept(() -> work(number, null));
                started++;
            }
        } catch (RuntimeException | Error e) {
            failures[0] = e;
        }
        // Nobody waits for those that are not there.
        arrived.addAndGet(workers - started);
        work(0, progress);
        for (Throwable failure : failures) {
            if (failure instanceof RuntimeException e) {
                throw e;
            }
            if (failure instanceof Error e) {
                throw e;
            }
        }
    }

    private void work(int worker, WindowHandler progress) {
        BackoffIdleStrategy idle = new BackoffIdleStrategy(SPINS, YIELDS, PARK_MIN_NS, PARK_MAX_NS);
        for (long window = 0; ; window++) {
            int before = (int) window & 1 ^ 1;
            publish(worker, before);
            await(idle, (window + 1) * workers);
            long first = Long.MAX_VALUE;
            long events = 0;
            long done = 0;
            long failed = 0;
            for (int i = 0; i < workers; i++) {
                first = Math.min(first, published[before][i * SLOT]);
                events += published[before][i * SLOT + 1];
                done += published[before][i * SLOT + 2];
                failed += published[before][i * SLOT + 3];
            }
            boolean isLast = failed > 0 || first == Long.MAX_VALUE;
            if (progress != null && (isLast || window % WINDOWS_PER_PROGRESS == 0)) {
                tell(progress, isLast ? nowPs() : first, events, done);
            }
            if (isLast) {
                return;
            }
            long end = first + Math.min(lookaheadPs, Long.MAX_VALUE - first);
            for (int p = worker; p < engines.length; p += workers) {
                step(p, before, end - 1);
            }
        }
    }

    /** The workers learn of a failure at the next barrier. */
    private void tell(WindowHandler progress, long timePs, long events, long done) {
        try {
            progress.onWindow(timePs, events, done);
        } catch (RuntimeException | Error e) {
            fail(0, e);
        }
    }

    private void fail(int partition, Throwable failure) {
        if (failures[partition] == null) {
            failures[partition] = failure;
        }
    }

    /** The time of the last event. */
    private long nowPs() {
        long latest = 0;
        for (Engine engine : engines) {
            latest = Math.max(latest, engine.nowPs());
        }
        return latest;
    }

    /** What this worker's partitions have to do next, and what they have sent. */
    private void publish(int worker, int parity) {
        long first = Long.MAX_VALUE;
        long events = 0;
        long done = 0;
        long failed = 0;
        for (int p = worker; p < engines.length; p += workers) {
            first = Math.min(first, engines[p].firstPs());
            first = Math.min(first, outboxes.earliestFrom(p, parity));
            events += engines[p].eventCount();
            done += doneIn.applyAsLong(p);
            failed += failures[p] == null ? 0 : 1;
        }
        published[parity][worker * SLOT] = first;
        published[parity][worker * SLOT + 1] = events;
        published[parity][worker * SLOT + 2] = done;
        // Not by a shared flag: all workers must leave after the same barrier.
        published[parity][worker * SLOT + 3] = failed;
    }

    /**
     * Waits until all workers have come here as often as this one. Adding to the counter publishes
     * all that a worker wrote in a window; reading it here sees it.
     */
    private void await(BackoffIdleStrategy idle, long count) {
        if (arrived.incrementAndGet() < count) {
            idle.reset();
            while (arrived.get() < count) {
                idle.idle();
            }
        }
    }

    private void step(int partition, int before, long limitPs) {
        try {
            outboxes.collect(partition, engines[partition], before);
            outboxes.begin(partition, before ^ 1);
            engines[partition].run(limitPs, Long.MAX_VALUE);
        } catch (RuntimeException | Error e) {
            fail(partition, e);
        }
    }
}
