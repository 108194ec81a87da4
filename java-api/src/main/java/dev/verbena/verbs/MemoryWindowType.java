package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** Kinds of memory windows: {@code enum ibv_mw_type}. */
public enum MemoryWindowType {
    /** Bound by {@link QueuePair#bind}; the device chooses the key. Any queue pair may use it. */
    TYPE_1(VerbsLayout.IBV_MW_TYPE_1),
    /**
     * Bound by {@link SendRequestFlyweight#bindWindow}, which names the key; it is of the queue
     * pair that bound it, and either end can invalidate it.
     */
    TYPE_2(VerbsLayout.IBV_MW_TYPE_2);

    private final int code;

    MemoryWindowType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
