package dev.verbena.savime.server;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;

/** A block that was granted: memory that the client writes, until it has released it. */
final class Block {
    private final Dataset dataset;
    private final Connection connection;
    private final int number;
    private final long offset;
    private final int length;
    private final OffHeapMemory memory;
    private final boolean isBounce;
    private RegisteredRegion region;
    private boolean hasArrived;

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

    Dataset dataset() {
        return dataset;
    }

    Connection connection() {
        return connection;
    }

    int number() {
        return number;
    }

    long offset() {
        return offset;
    }

    int length() {
        return length;
    }

    OffHeapMemory memory() {
        return memory;
    }

    boolean isBounce() {
        return isBounce;
    }

    /** Peers reach it. */
    void registered(RegisteredRegion by) {
        region = by;
    }

    /** Its bytes have come by TCP. */
    void arrived() {
        hasArrived = true;
    }

    boolean hasArrived() {
        return hasArrived;
    }

    /** No peer reaches it any more. */
    void revoke() {
        if (region != null) {
            region.close();
            region = null;
        }
    }
}
