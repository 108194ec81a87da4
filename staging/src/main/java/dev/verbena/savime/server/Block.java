package dev.verbena.savime.server;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;

/** A block that was granted: memory that the client writes, until it has released it. */
final class Block {
    final Dataset dataset;
    final Connection connection;
    final int number;
    final long offset;
    final int length;
    final OffHeapMemory memory;
    final boolean isBounce;
    private RegisteredRegion region;
    boolean hasArrived;

    Block(
            Dataset dataset,
            Connection connection,
            Connection.Asked asked,
            OffHeapMemory memory,
            boolean isBounce) {
        this.dataset = dataset;
        this.connection = connection;
        this.number = asked.blockNo();
        this.offset = asked.offset();
        this.length = asked.length();
        this.memory = memory;
        this.isBounce = isBounce;
    }

    /** Peers reach it. */
    void registered(RegisteredRegion by) {
        region = by;
    }

    /** Its bytes have come by TCP. */
    void arrived() {
        hasArrived = true;
    }

    /** No peer reaches it any more. */
    void revoke() {
        if (region != null) {
            region.close();
            region = null;
        }
    }
}
