package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** To whom a prepared request goes, of those that are datagrams. One of each request. */
final class DatagramTarget {
    private final SendRequests owner;
    private final int offset;
    private AddressHandle handle;
    private int queuePair;
    private int queueKey;

    DatagramTarget(SendRequests owner, int offset) {
        this.owner = owner;
        this.offset = offset;
    }

    /**
     * Takes a target.
     *
     * @throws IllegalArgumentException for a handle of another domain
     */
    void set(AddressHandle target, int queuePair, int queueKey) {
        target.checkOf(owner.domain);
        target.address();
        this.handle = target;
        this.queuePair = queuePair;
        this.queueKey = queueKey;
    }

    void clear() {
        handle = null;
    }

    /** Null: none was set. */
    AddressHandle handle() {
        return handle;
    }

    /** Writes to whom: other setters write to the same bytes. False without, or for no send. */
    boolean isPrepared() {
        long address = handle == null ? 0 : handle.addressOrZero();
        int opcode = owner.buffer.getInt(offset + VerbsLayout.SEND_WR_OPCODE);
        if (address == 0
                || opcode != VerbsLayout.IBV_WR_SEND
                        && opcode != VerbsLayout.IBV_WR_SEND_WITH_IMM) {
            return false;
        }
        owner.buffer.putLong(offset + VerbsLayout.SEND_WR_WR_UD_AH, address);
        owner.buffer.putInt(offset + VerbsLayout.SEND_WR_WR_UD_REMOTE_QPN, queuePair);
        owner.buffer.putInt(offset + VerbsLayout.SEND_WR_WR_UD_REMOTE_QKEY, queueKey);
        return true;
    }
}
