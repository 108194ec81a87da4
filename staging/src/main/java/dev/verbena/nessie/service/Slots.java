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

    private final ArrayDeque<NntiBuffer> free = new ArrayDeque<>();
    private final ArrayDeque<GetJob> waiting = new ArrayDeque<>();

    Slots(NntiTransport transport) {
        for (int i = 0; i < COUNT; i++) {
            free.add(transport.alloc(LENGTH, 1, BufferFlags.PUT_SRC));
        }
    }

    /** Gives a slot now or later. */
    void take(GetJob job) {
        if (free.isEmpty()) {
            waiting.add(job);
        } else {
            job.onSlot(free.remove());
        }
    }

    void give(NntiBuffer slot) {
        free.add(slot);
        GetJob next = waiting.poll();
        if (next != null) {
            next.onSlot(free.remove());
        }
    }
}
