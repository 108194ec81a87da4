package dev.verbena.staging;

import java.util.concurrent.atomic.AtomicLong;

/** Counts with one writer each, which any thread may read. */
public final class Counters {
    private Counters() {}

    /** One writer per counter: no read-modify-write needed. */
    public static void add(AtomicLong counter, long delta) {
        counter.lazySet(counter.get() + delta);
    }
}
