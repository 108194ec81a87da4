package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import java.util.ArrayDeque;

/** Buffers in which answers are put together; requests take them in turn. One thread. */
final class Slots {
    /** Bytes of a slot: what fits into a processor's cache beside its source. */
    static final int LENGTH = 512 * 1024;

    private static final int COUNT = 4;

    /** Clients over TCP may read as slowly as they like: the other slots are not for them. */
    private static final int TCP_MAX = 2;

    private final ArrayDeque<NntiBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<GetJob> waiting = new ArrayDeque<>();
    private int tcpCount;

    Slots(NntiTransport transport) {
        for (int i = 0; i < COUNT; i++) {
            free.add(transport.alloc(LENGTH, 1, BufferFlags.PUT_SRC));
        }
    }

    /** Gives a slot now or later. */
    void take(GetJob job) {
        waiting.add(job);
        serve();
    }

    void give(NntiBuffer slot, GetJob job) {
        free.add(slot);
        tcpCount -= tcp(job);
        serve();
    }

    /** Jobs whose clients are gone end: they keep pieces in memory while they wait. Work done. */
    int doWork() {
        return waiting.removeIf(job -> job.caller.isGone() && job.end(GetJob.GONE)) ? 1 : 0;
    }

    private void serve() {
        for (GetJob job : waiting) {
            if (!free.isEmpty() && tcpCount + tcp(job) <= TCP_MAX) {
                waiting.remove(job);
                tcpCount += tcp(job);
                job.onSlot(free.remove());
                return;
            }
        }
    }

    private static int tcp(GetJob job) {
        return job.caller instanceof TcpConnection ? 1 : 0;
    }
}
