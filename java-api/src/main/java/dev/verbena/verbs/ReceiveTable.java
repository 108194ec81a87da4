package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;

/**
 * Receive queues that a queue pair spreads what it receives over: {@code struct ibv_rwq_ind_table}.
 * A hash of each packet says which of them takes it. Its queues are closed after it. Thread-safe.
 */
public final class ReceiveTable extends VerbsObject {
    private static final int SIZE_MAX = 1 << 16;

    private final int size;

    private ReceiveTable(long address, int size, List<VerbsObject> deviceAndQueues) {
        super(
                "table of " + size + " receive queues",
                address,
                DestroyCall.RECEIVE_TABLE,
                deviceAndQueues);
        this.size = size;
    }

    static ReceiveTable make(RdmaDevice device, List<ReceiveQueue> queues) {
        int size = queues.size();
        if (Integer.bitCount(size) != 1 || size > SIZE_MAX) {
            throw new IllegalArgumentException(
                    "a table of " + size + " queues; it has 2 to the n, at most " + SIZE_MAX);
        }
        for (ReceiveQueue queue : queues) {
            queue.checkOf(device);
        }
        long pointers = UnsafeApi.allocateMemory((long) size * Long.BYTES);
        try {
            synchronized (device.lock()) {
                for (int i = 0; i < size; i++) {
                    CallMemory.putLong(pointers + (long) i * Long.BYTES, queues.get(i).address());
                }
                return make(device, queues, pointers);
            }
        } finally {
            UnsafeApi.freeMemory(pointers);
        }
    }

    private static ReceiveTable make(RdmaDevice device, List<ReceiveQueue> queues, long pointers) {
        long at = device.memory().argument();
        int log2 = Integer.numberOfTrailingZeros(queues.size());
        CallMemory.putInt(at + VerbsLayout.RWQ_IND_TABLE_INIT_ATTR_LOG_IND_TBL_SIZE, log2);
        CallMemory.putLong(at + VerbsLayout.RWQ_IND_TABLE_INIT_ATTR_IND_TBL, pointers);
        List<VerbsObject> parents = new ArrayList<>(List.of(device));
        parents.addAll(queues);
        return device.create(
                "ibv_create_rwq_ind_table",
                out -> verbscalls.vv_create_table(device.address(), at, out),
                DestroyCall.RECEIVE_TABLE,
                made -> new ReceiveTable(made, queues.size(), parents));
    }

    /** Places that it has, 2 to the n. */
    public int size() {
        return size;
    }
}
