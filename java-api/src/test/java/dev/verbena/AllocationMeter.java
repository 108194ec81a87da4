package dev.verbena;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Finds out whether a loop allocates, however busy the machine is.
 *
 * <p>Code that allocates nothing shows some bytes nevertheless: while it is interpreted, because
 * what the compiler would have removed is still there; when a path is taken for the first time; and
 * once in a while on JDK 25 for no reason of its own. How many rounds that takes depends on when
 * the compiler's threads get a processor, so no fixed number of rounds is enough beside other work.
 * What an operation allocates, on the other hand, shows in each round that is long enough to have
 * one of it. So rounds are run until one of them allocates nothing, and only if none does, in at
 * least {@link #ROUNDS_MIN} rounds and for as long as {@link #LIMIT_NS}, it is the loop that
 * allocates.
 *
 * <p>A round must be long enough to allocate at least once if it allocates at all: 10,000
 * operations show one allocation in 10,000. One thread.
 */
public final class AllocationMeter {
    /** So many rounds are run, whatever they take, before a loop is said to allocate. */
    public static final int ROUNDS_MIN = 10;

    /** For so long rounds are run, if each of them allocates. */
    public static final long LIMIT_NS = TimeUnit.SECONDS.toNanos(30);

    /** After a round that allocated: the compiler's threads may need this processor. */
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocationMeter() {}

    /** Runs the round once and answers the bytes that this thread allocated meanwhile. */
    public static long bytes(Runnable round) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        round.run();
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /**
     * Runs the round until it allocates nothing.
     *
     * @return the number of rounds that were run, at least 1
     * @throws AssertionError if every round allocated; it lists what each did
     */
    public static int requireNone(Runnable round) {
        return requireNoneIn(() -> bytes(round));
    }

    /**
     * As {@link #requireNone(Runnable)}, for rounds of which only a part counts.
     *
     * @param round runs once and answers the bytes that count, for instance a sum of {@link
     *     #bytes(Runnable)}
     */
    public static int requireNoneIn(LongSupplier round) {
        return requireNoneIn(round, LIMIT_NS);
    }

    static int requireNoneIn(LongSupplier round, long limitNs) {
        long begin = System.nanoTime();
        List<Long> allocated = new ArrayList<>();
        do {
            long bytes = round.getAsLong();
            allocated.add(bytes);
            if (bytes == 0) {
                return allocated.size();
            }
            LockSupport.parkNanos(PAUSE_NS);
        } while (allocated.size() < ROUNDS_MIN || System.nanoTime() - begin < limitNs);
        throw new AssertionError(
                "each of %d rounds allocates; the least: %d bytes, the last ten: %s"
                        .formatted(
                                allocated.size(),
                                allocated.stream().mapToLong(Long::longValue).min().orElseThrow(),
                                allocated.subList(
                                        allocated.size() - ROUNDS_MIN, allocated.size())));
    }
}
