package dev.verbena.staging;

import dev.verbena.agent.Environment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.agrona.concurrent.status.AtomicCounter;

/**
 * Shows an engine's counts in the environment's counters, where {@code verbena status} finds them.
 * The engine counts in memory of its own and this copies, so that reading statistics after the
 * environment is gone stays safe. One thread.
 */
public final class CounterMirror implements AutoCloseable {
    private static final long INTERVAL_NS = 100_000_000;

    /** In a busy loop the clock is read once in so many cycles: it costs 20 ns or more. */
    private static final int CYCLES_PER_LOOK = 256;

    private final Environment environment;
    private final String prefix;
    private final List<Shown> all = new ArrayList<>();
    private long dueNs;
    private boolean hasNews = true;
    private int cycles;

    private record Shown(AtomicCounter counter, LongSupplier source) {}

    /** {@code prefix} begins every label: {@code dart master}, for example. */
    public CounterMirror(Environment environment, String prefix) {
        this.environment = environment;
        this.prefix = prefix;
        this.dueNs = environment.nanoClock().nanoTime();
    }

    public CounterMirror show(String label, AtomicLong source) {
        return show(label, source::get);
    }

    /** Without room for another counter, as with hundreds of clients, it is not shown. */
    public CounterMirror show(String label, LongSupplier source) {
        AtomicCounter counter;
        synchronized (environment.counters()) {
            try {
                counter = environment.counters().newCounter(prefix + " " + label);
            } catch (IllegalStateException e) {
                return this;
            }
        }
        all.add(new Shown(counter, source));
        return this;
    }

    /** Copies when it is time; allocates nothing. */
    public void publish(long nowNs) {
        if (dueNs - nowNs <= 0) {
            dueNs = nowNs + INTERVAL_NS;
            hasNews = false;
            copy();
        }
    }

    /**
     * As {@link #publish}, for loops that know no time: after a cycle.
     *
     * @param work 0: nothing was done
     */
    public void worked(int work) {
        hasNews |= work > 0;
        if (hasNews && (work == 0 || ++cycles % CYCLES_PER_LOOK == 0)) {
            publish(environment.nanoClock().nanoTime());
        }
    }

    /** When {@link #worked} is to be called although nothing was done; {@code Long.MAX_VALUE}. */
    public long nextDeadlineNs() {
        return hasNews ? dueNs : Long.MAX_VALUE;
    }

    /** Copies a last time and takes the counters away. Idempotent. */
    @Override
    public void close() {
        copy();
        synchronized (environment.counters()) {
            all.forEach(each -> each.counter().close());
        }
        all.clear();
    }

    private void copy() {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).counter().setOrdered(all.get(i).source().getAsLong());
        }
    }
}
