package dev.verbena.savime.server;

import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Durations;

/** How long the steps of a dataset take (specification, section 5.8). Owned by the engine. */
final class Latencies {
    /** From DATASET_OPEN to DATASET_OPENED. */
    private final Durations open = new Durations();

    /** From BLOCK_REQUEST to BLOCK_GRANT. */
    private final Durations grant = new Durations();

    /** From DATASET_SYNC to DATASET_DONE. */
    private final Durations sync = new Durations();

    /** From DATASET_DONE until the sink has it. */
    private final Durations forward = new Durations();

    void opened(long ns) {
        open.record(ns);
    }

    void granted(long ns) {
        grant.record(ns);
    }

    void synced(long ns) {
        sync.record(ns);
    }

    void forwarded(long ns) {
        forward.record(ns);
    }

    void show(CounterMirror mirror) {
        show(mirror, "open to opened", open);
        show(mirror, "request to grant", grant);
        show(mirror, "sync to done", sync);
        show(mirror, "done to forwarded", forward);
    }

    private static void show(CounterMirror mirror, String what, Durations of) {
        mirror.show(what + " p50 us", () -> of.percentileNs(50) / 1000)
                .show(what + " p99 us", () -> of.percentileNs(99) / 1000)
                .show(what + " max us", () -> of.maxNs() / 1000);
    }
}
