package dev.verbena.savime.server;

import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Durations;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * What happened since the start, and how long the steps of a dataset take (specification, section
 * 5.8). Written by the engine's thread, read by any.
 */
public final class ServerCounts {
    private final AtomicLongArray values = new AtomicLongArray(Count.values().length);
    private final Durations[] durations = new Durations[Step.values().length];

    /** What is counted. */
    public enum Count {
        /** Datasets that arrived complete. */
        DATASETS_IN("datasets in"),
        BYTES_IN("bytes in"),
        /** Datasets that the sink has. */
        DATASETS_OUT("datasets out"),
        BYTES_OUT("bytes out"),
        /** Bytes registered now. */
        PINNED("pinned bytes"),
        /** Datasets and commands in the queue. */
        QUEUED("queued"),
        FORWARDING("forwarding"),
        /** Tries that did not reach the sink. */
        RETRIES("retries"),
        /** Datasets that the sink refused. */
        REFUSED("refused by the sink"),
        /** Datasets given up before they were complete. */
        ABORTED("aborted"),
        /** Datasets that got the pages of an earlier one. */
        REUSED("reused");

        private final String label;

        Count(String label) {
            this.label = label;
        }
    }

    /** What takes time. */
    enum Step {
        /** From DATASET_OPEN to DATASET_OPENED. */
        OPEN("open to opened"),
        /** From BLOCK_REQUEST to BLOCK_GRANT. */
        GRANT("request to grant"),
        /** From DATASET_SYNC to DATASET_DONE. */
        SYNC("sync to done"),
        /** From DATASET_DONE until the sink has it. */
        FORWARD("done to forwarded");

        private final String label;

        Step(String label) {
            this.label = label;
        }
    }

    ServerCounts() {
        Arrays.setAll(durations, step -> new Durations());
    }

    public long get(Count what) {
        return values.get(what.ordinal());
    }

    /** One writer: no read-modify-write needed. */
    void add(Count what, long change) {
        set(what, get(what) + change);
    }

    void set(Count what, long value) {
        values.lazySet(what.ordinal(), value);
    }

    void took(Step what, long ns) {
        durations[what.ordinal()].record(ns);
    }

    void show(CounterMirror mirror) {
        for (Count each : Count.values()) {
            mirror.show(each.label, () -> get(each));
        }
        for (Step each : Step.values()) {
            Durations of = durations[each.ordinal()];
            mirror.show(each.label + " p50 us", () -> of.percentileNs(50) / 1000)
                    .show(each.label + " p99 us", () -> of.percentileNs(99) / 1000)
                    .show(each.label + " max us", () -> of.maxNs() / 1000);
        }
    }
}
