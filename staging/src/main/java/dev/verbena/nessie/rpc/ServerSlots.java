package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import java.util.ArrayDeque;

/** Buffers for bulk data, which calls take in turn. One thread. */
final class ServerSlots {
    private static final int FLAGS =
            BufferFlags.GET_DST | BufferFlags.PUT_SRC | BufferFlags.PUT_DST;

    private final NntiTransport transport;
    private final RpcServerOptions options;
    private final ArrayDeque<NntiBuffer> free = new ArrayDeque<>();

    /** Most that were in use at a time. */
    int usedMax;

    ServerSlots(NntiTransport transport, RpcServerOptions options) {
        this.transport = transport;
        this.options = options;
        for (int i = 0; i < options.slotCount(); i++) {
            free.add(made());
        }
    }

    private NntiBuffer made() {
        return transport.alloc(options.slotLength(), 1, FLAGS);
    }

    boolean isEmpty() {
        return free.isEmpty();
    }

    void take(RpcCall call) {
        call.slot(free.remove());
        usedMax = Math.max(usedMax, options.slotCount() - free.size());
    }

    /** Takes a call's slot back, if it has one. */
    void give(RpcCall call) {
        NntiBuffer slot = call.slot();
        if (slot == null) {
            return;
        }
        call.slot(null);
        if (call.mayStillMove()) {
            // The network or the client may write to it at any time: no other call gets it.
            transport.unregister(slot);
            slot = made();
        }
        free.push(slot); // the next call gets what the caches still hold
    }
}
