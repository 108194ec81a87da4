package dev.verbena.flesnet.compute;

import dev.verbena.agent.Environment;
import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.staging.CounterMirror;
import java.util.concurrent.atomic.AtomicLong;

/** What its engine counts: written by the engine's thread, read by any. */
final class ComputeCounts implements ComputeStatistics {
    private final AtomicLong timeslices = new AtomicLong();
    private final AtomicLong incomplete = new AtomicLong();
    private final AtomicLong components = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong released = new AtomicLong();
    private final AtomicLong syncBytes = new AtomicLong();
    private final AtomicLong syncs = new AtomicLong();
    private final AtomicLong speedUps = new AtomicLong();
    private final AtomicLong proposals = new AtomicLong(-1);

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

    void scheduled(long speedUpCount, long lastProposed) {
        speedUps.lazySet(speedUpCount);
        proposals.lazySet(lastProposed);
    }

    @Override
    public long timeslices() {
        return timeslices.get();
    }

    @Override
    public long incompleteTimeslices() {
        return incomplete.get();
    }

    @Override
    public long components() {
        return components.get();
    }

    @Override
    public long bytes() {
        return bytes.get();
    }

    @Override
    public long released() {
        return released.get();
    }

    @Override
    public long syncs() {
        return syncs.get();
    }

    @Override
    public long syncBytes() {
        return syncBytes.get();
    }

    @Override
    public long speedUps() {
        return speedUps.get();
    }

    @Override
    public long lastProposed() {
        return proposals.get();
    }
}
