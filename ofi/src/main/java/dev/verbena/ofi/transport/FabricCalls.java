package dev.verbena.ofi.transport;

import dev.verbena.ofi.AddressVector;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.core.Turns;

/**
 * The calls of libfabric that use an endpoint or its queue, one after the other ({@link Turns}).
 * They answer what libfabric does: a negative errno for what was not taken. For the thread that has
 * the transport, but for the heartbeat. Allocates nothing.
 */
final class FabricCalls {
    final Turns turns;

    /** Whether calls for memory follow the others, too; else heartbeats go on while one pins. */
    private final boolean isSerial;

    private final long fabricHandle;
    private final long domain;
    private final long queue;
    final long endpoint;

    FabricCalls(
            Turns turns,
            boolean isSerial,
            long fabricHandle,
            long domain,
            long queue,
            long endpoint) {
        this.turns = turns;
        this.isSerial = isSerial;
        this.fabricHandle = fabricHandle;
        this.domain = domain;
        this.queue = queue;
        this.endpoint = endpoint;
    }

    int inject(long address, int length, long peer) {
        turns.enter();
        int answer = fabric.vfi_inject(endpoint, address, length, peer);
        turns.exit();
        return answer;
    }

    int send(long address, int length, long descriptor, long peer, long context) {
        turns.enter();
        int answer = fabric.vfi_send(endpoint, address, length, descriptor, peer, context);
        turns.exit();
        return answer;
    }

    int receive(long address, int length, long descriptor, long context) {
        turns.enter();
        int answer = fabric.vfi_recv(endpoint, address, length, descriptor, context);
        turns.exit();
        return answer;
    }

    /** Entries of the queue, 0 if there is none, -EAVAIL if an error is next. */
    int events(long entries, int count) {
        turns.enter();
        int answer = fabric.vfi_cq_read(queue, entries, count);
        turns.exit();
        return answer;
    }

    /** The error that is next. */
    int error(long entry) {
        turns.enter();
        int answer = fabric.vfi_cq_error(queue, entry);
        turns.exit();
        return answer;
    }

    /** Whether the queue is empty, and what arrives from now on makes its descriptor readable. */
    boolean maySleep() {
        turns.enter();
        int answer = fabric.vfi_may_sleep(fabricHandle, queue);
        turns.exit();
        return answer != 0;
    }

    long register(long bound, long address, long length, long access, long key) {
        if (!isSerial) {
            return fabric.vfi_mr(domain, bound, address, length, access, key);
        }
        turns.enter();
        long mr = fabric.vfi_mr(domain, bound, address, length, access, key);
        turns.exit();
        return mr;
    }

    void deregister(long mr) {
        if (!isSerial) {
            fabric.vfi_close(mr);
            return;
        }
        turns.enter();
        fabric.vfi_close(mr);
        turns.exit();
    }

    /** The number of a peer with this name. */
    long insert(AddressVector peers, byte[] name) {
        turns.enter();
        try {
            return peers.insert(name);
        } finally {
            turns.exit();
        }
    }

    /** Between two calls of the others: a record to a peer, or progress if it is not taken now. */
    void beat(long record, int length, long peer) {
        turns.take();
        if (fabric.vfi_inject(endpoint, record, length, peer) == -fabric.VFI_EAGAIN) {
            fabric.vfi_progress(queue); // the owner may not poll for long
        }
        turns.giveBack();
    }
}
