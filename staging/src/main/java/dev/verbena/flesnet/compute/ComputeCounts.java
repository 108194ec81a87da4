package dev.verbena.flesnet.compute;

import dev.verbena.agent.Environment;
import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.staging.CounterMirror;
import java.util.concurrent.atomic.AtomicLong;

/** What its engine counts: written by the engine's thread, read by any. */
final class ComputeCounts {
    private final AtomicLong timeslices = new AtomicLong();
    private final AtomicLong incomplete = new AtomicLong();
    private final AtomicLong components = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong released = new AtomicLong();
    private final AtomicLong syncBytes = new AtomicLong();
    private final AtomicLong syncs = new AtomicLong();
    private final AtomicLong proposed = new AtomicLong(-1);

    CounterMirror shown(Environment environment) {
        return new CounterMirror(environment, "flesnet compute")
                .show("timeslices", timeslices)
                .show("timeslices incomplete", incomplete)
                .show("timeslices released", released)
                .show("components", components)
                .show("bytes", bytes);
    }

    private static void add(AtomicLong to, long more) {
        to.lazySet(to.get() + more);
    }

    void received(long size) {
        add(components, 1);
        add(bytes, size);
    }

    void delivered(boolean isIncomplete) {
        add(timeslices, 1);
        add(incomplete, isIncomplete ? 1 : 0);
    }

    void released(long count) {
        released.lazySet(count);
    }

    void sent(long count, long length) {
        syncs.lazySet(count);
        syncBytes.lazySet(length);
    }

    void proposed(long interval) {
        proposed.lazySet(interval);
    }

    /** As they are now. */
    ComputeStatistics now() {
        return new ComputeStatistics(
                timeslices.get(),
                incomplete.get(),
                components.get(),
                bytes.get(),
                released.get(),
                syncs.get(),
                syncBytes.get(),
                proposed.get());
    }
}
