package dev.verbena.flesnet.input;

import dev.verbena.agent.Environment;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.staging.CounterMirror;
import java.util.concurrent.atomic.AtomicLong;

/** What its engine counts: written by the engine's thread, read by any. */
final class InputCounts implements InputStatistics {
    private final AtomicLong timeslices = new AtomicLong();
    private final AtomicLong payloadBytes = new AtomicLong();
    private final AtomicLong writes = new AtomicLong();
    private final AtomicLong components = new AtomicLong();
    private final AtomicLong syncs = new AtomicLong();
    private final AtomicLong syncBytes = new AtomicLong();
    private final AtomicLong dropped = new AtomicLong();
    private final AtomicLong inputBlockedNs = new AtomicLong();
    private final AtomicLong writeBlockedNs = new AtomicLong();
    private final AtomicLong creditBlockedNs = new AtomicLong();
    private final AtomicLong openInterval = new AtomicLong(-1);

    CounterMirror shown(Environment environment) {
        return new CounterMirror(environment, "flesnet input")
                .show("timeslices", timeslices)
                .show("components", components)
                .show("bytes", payloadBytes)
                .show("microslices dropped", dropped)
                .show("blocked for data ns", inputBlockedNs)
                .show("blocked for writes ns", writeBlockedNs)
                .show("blocked for tickets ns", creditBlockedNs);
    }

    private static void add(AtomicLong to, long more) {
        to.lazySet(to.get() + more);
    }

    void written(long bytes, int payloadWrites) {
        add(payloadBytes, bytes);
        add(writes, payloadWrites);
        add(components, 1);
    }

    void update(long droppedCount, long freed, InputLink[] links, IntervalPacer pacer) {
        long count = 0;
        long bytes = 0;
        long input = 0;
        long write = 0;
        long credit = 0;
        for (int i = 0; i < links.length; i++) {
            count += links[i].control.count();
            bytes += links[i].control.bytes();
            input += links[i].stalls.totalNs(StallClock.INPUT);
            write += links[i].stalls.totalNs(StallClock.WRITE);
            credit += links[i].stalls.totalNs(StallClock.CREDIT);
        }
        syncs.lazySet(count);
        syncBytes.lazySet(bytes);
        dropped.lazySet(droppedCount);
        timeslices.lazySet(freed);
        inputBlockedNs.lazySet(input);
        writeBlockedNs.lazySet(write);
        creditBlockedNs.lazySet(credit);
        openInterval.lazySet(pacer == null ? -1 : pacer.open());
    }

    @Override
    public long timeslices() {
        return timeslices.get();
    }

    @Override
    public long components() {
        return components.get();
    }

    @Override
    public long payloadBytes() {
        return payloadBytes.get();
    }

    @Override
    public long payloadWrites() {
        return writes.get();
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
    public long droppedMicroslices() {
        return dropped.get();
    }

    @Override
    public long inputBlockedNs() {
        return inputBlockedNs.get();
    }

    @Override
    public long writeBlockedNs() {
        return writeBlockedNs.get();
    }

    @Override
    public long creditBlockedNs() {
        return creditBlockedNs.get();
    }

    @Override
    public long openInterval() {
        return openInterval.get();
    }
}
