package dev.verbena.nessie.nnti;

import java.util.ArrayDeque;

/** Work requests of operations for which the caller gave none. Owned by the transport's thread. */
final class RequestPool {
    private final ArrayDeque<WorkRequest> free = new ArrayDeque<>();

    WorkRequest next() {
        WorkRequest request = free.poll();
        return request == null ? new WorkRequest().pooled() : request;
    }

    /** The end of the oldest operation of a buffer, or else what a peer did in it. */
    boolean take(NntiBuffer buffer, NntiStatus status) {
        WorkRequest oldest = buffer.oldest();
        if (oldest == null) {
            return buffer.take(status);
        }
        if (!oldest.isComplete()) {
            return false;
        }
        status.set(oldest.status());
        buffer.taken(oldest);
        if (oldest.isPooled()) {
            oldest.forget();
            free.add(oldest);
        }
        return true;
    }
}
