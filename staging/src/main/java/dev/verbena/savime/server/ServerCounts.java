package dev.verbena.savime.server;

import dev.verbena.staging.Counters;
import java.util.concurrent.atomic.AtomicLong;

/** What happened since the start. Written by the engine's thread, read by any. */
public final class ServerCounts {
    private final AtomicLong datasetsIn = new AtomicLong();
    private final AtomicLong bytesIn = new AtomicLong();
    private final AtomicLong datasetsOut = new AtomicLong();
    private final AtomicLong bytesOut = new AtomicLong();
    private final AtomicLong pinned = new AtomicLong();
    private final AtomicLong retries = new AtomicLong();
    private final AtomicLong failures = new AtomicLong();
    private final AtomicLong aborts = new AtomicLong();
    private final AtomicLong reused = new AtomicLong();
    private final AtomicLong queued = new AtomicLong();
    private final AtomicLong forwarding = new AtomicLong();

    private final Latencies latencies = new Latencies();

    Latencies latencies() {
        return latencies;
    }

    void received(long bytes) {
        Counters.add(datasetsIn, 1);
        Counters.add(bytesIn, bytes);
    }

    void forwarded(long bytes) {
        Counters.add(datasetsOut, 1);
        Counters.add(bytesOut, bytes);
    }

    void pinned(long change) {
        Counters.add(pinned, change);
    }

    void retried() {
        Counters.add(retries, 1);
    }

    void failed() {
        Counters.add(failures, 1);
    }

    void aborted() {
        Counters.add(aborts, 1);
    }

    void reused() {
        Counters.add(reused, 1);
    }

    void queue(int waiting, int sending) {
        queued.lazySet(waiting);
        forwarding.lazySet(sending);
    }

    /** Datasets that arrived complete. */
    public AtomicLong datasetsIn() {
        return datasetsIn;
    }

    public AtomicLong bytesIn() {
        return bytesIn;
    }

    /** Datasets that the sink has. */
    public AtomicLong datasetsOut() {
        return datasetsOut;
    }

    public AtomicLong bytesOut() {
        return bytesOut;
    }

    /** Bytes registered now. */
    public AtomicLong pinnedBytes() {
        return pinned;
    }

    /** Tries that did not reach the sink. */
    public AtomicLong retryCount() {
        return retries;
    }

    /** Datasets that the sink refused. */
    public AtomicLong failureCount() {
        return failures;
    }

    /** Datasets given up before they were complete. */
    public AtomicLong abortCount() {
        return aborts;
    }

    /** Datasets that got the pages of an earlier one. */
    public AtomicLong reusedCount() {
        return reused;
    }

    /** Datasets and commands in the queue. */
    public AtomicLong queuedCount() {
        return queued;
    }

    public AtomicLong forwardingCount() {
        return forwarding;
    }
}
