package dev.verbena.flesnet.input;

import dev.verbena.agent.Environment;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.staging.CounterMirror;
import java.util.concurrent.atomic.AtomicLong;

/** What its engine counts: written by the engine's thread, read by any. */
final class InputCounts {
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

    void sent(long count, long length) {
        syncs.lazySet(count);
        syncBytes.lazySet(length);
    }

    void update(long droppedCount, long freed, InputLink[] links, IntervalPacer pacer) {
        long input = 0;
        long write = 0;
        long credit = 0;
        for (InputLink link : links) {
            input += link.stalls.totalNs(StallClock.INPUT);
            write += link.stalls.totalNs(StallClock.WRITE);
            credit += link.stalls.totalNs(StallClock.CREDIT);
        }
        dropped.lazySet(droppedCount);
        timeslices.lazySet(freed);
        inputBlockedNs.lazySet(input);
        writeBlockedNs.lazySet(write);
        creditBlockedNs.lazySet(credit);
        openInterval.lazySet(pacer == null ? -1 : pacer.open());
    }

    /** As they are now. */
    InputStatistics now() {
        return new InputStatistics(
                timeslices.get(),
                components.get(),
                payloadBytes.get(),
                writes.get(),
                syncs.get(),
                syncBytes.get(),
                dropped.get(),
                inputBlockedNs.get(),
                writeBlockedNs.get(),
                creditBlockedNs.get(),
                openInterval.get());
    }
}
