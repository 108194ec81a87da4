package dev.verbena.nessie.nnti;

import dev.verbena.transport.Transport;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * Waits for ends of operations, and progresses everything meanwhile. Spins shortly, then sleeps in
 * the transport. Owned by its thread, but for {@link #interrupt}; allocates nothing.
 */
final class Waiting {
    private static final int SPINS = 200;
    private static final long PAUSE_NS = 1_000_000;

    private final Transport transport;
    private final RequestPool requests;
    private final IntSupplier progress;
    private volatile boolean isInterrupted;

    /**
     * @param progress does what can be done now; how much that was
     */
    Waiting(Transport transport, RequestPool requests, IntSupplier progress) {
        this.transport = transport;
        this.requests = requests;
        this.progress = progress;
    }

    NntiResult await(WorkRequest request, long timeoutMs) {
        if (request.state() == WorkRequest.State.NULL) {
            return NntiResult.EINVAL;
        }
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress.getAsInt();
            if (request.isComplete()) {
                request.detach();
                return request.status().result();
            }
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
    }

    NntiResult await(NntiBuffer buffer, long timeoutMs, NntiStatus status) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress.getAsInt();
            if (requests.take(buffer, status)) {
                return status.result();
            }
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
    }

    NntiResult await(BooleanSupplier condition, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress.getAsInt();
            if (condition.getAsBoolean()) {
                return NntiResult.OK;
            }
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
    }

    int awaitAny(List<WorkRequest> requests, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress.getAsInt();
            for (int i = 0; i < requests.size(); i++) {
                if (requests.get(i) != null && requests.get(i).isComplete()) {
                    requests.get(i).detach();
                    return i;
                }
            }
            idle = work > 0 ? 0 : idle + 1;
            if (pause(idle, start, timeoutNs) != NntiResult.OK) {
                return -1;
            }
        }
    }

    NntiResult awaitAll(List<WorkRequest> requests, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        NntiResult worst = NntiResult.OK;
        for (int i = 0; i < requests.size(); i++) {
            WorkRequest request = requests.get(i);
            if (request == null) {
                continue;
            }
            long leftNs = timeoutNs - (transport.nanoTime() - start);
            NntiResult result =
                    await(
                            request,
                            timeoutMs < 0 ? NntiTransport.NEVER : Math.max(0, leftNs) / 1_000_000);
            if (!request.isComplete()) {
                return result;
            }
            worst = worst == NntiResult.OK ? result : worst;
        }
        return worst;
    }

    /** Waits until a peer is connected or closed. */
    NntiResult awaitConnected(NntiPeer peer, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; peer.state() == NntiPeer.State.CONNECTING; ) {
            if (transport.nanoTime() - start > timeoutNs) {
                return NntiResult.ETIMEDOUT;
            }
            idle = progress.getAsInt() > 0 ? 0 : idle + 1;
            pause(idle, start, timeoutNs);
        }
        return NntiResult.OK;
    }

    void interrupt() {
        isInterrupted = true;
        transport.wakeup();
    }

    private NntiResult pause(int idle, long start, long timeoutNs) {
        if (isInterrupted) {
            isInterrupted = false;
            return NntiResult.EINTR;
        }
        long now = transport.nanoTime();
        long leftNs = timeoutNs - (now - start);
        if (leftNs <= 0) {
            return NntiResult.ETIMEDOUT;
        }
        if (idle > SPINS) {
            transport.await(now + Math.min(leftNs, PAUSE_NS));
        }
        return NntiResult.OK;
    }

    static long timeoutNs(long timeoutMs) {
        return timeoutMs < 0 || timeoutMs > Long.MAX_VALUE / 4_000_000
                ? Long.MAX_VALUE / 4
                : timeoutMs * 1_000_000;
    }
}
