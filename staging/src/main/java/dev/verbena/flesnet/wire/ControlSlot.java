package dev.verbena.flesnet.wire;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where the messages of one connection are written, one after the other: the next has room when the
 * send of the last has completed, so that positions coalesce meanwhile (section 3.6). One thread;
 * allocates nothing.
 */
public final class ControlSlot {
    private final RegisteredRegion region;
    private final UnsafeBuffer memory;
    private final int offset;
    private final int sender;
    private final long context;
    private final SyncFlyweight message = new SyncFlyweight();
    private boolean isSending;
    private long sequence;
    private long bytes;

    /**
     * A slot.
     *
     * @param memory of the region
     * @param offset of the slot
     * @param sender number of this node
     * @param context of its sends
     */
    public ControlSlot(
            RegisteredRegion region, UnsafeBuffer memory, int offset, int sender, long context) {
        this.region = region;
        this.memory = memory;
        this.offset = offset;
        this.sender = sender;
        this.context = context;
    }

    /** Whether a message can be written. */
    public boolean isFree() {
        return !isSending;
    }

    /** Begins a message. */
    public SyncFlyweight begin(int type) {
        return message.begin(memory, offset, type, sender, sequence + 1);
    }

    /** Sends the message that was begun; false: not now. */
    public boolean send(Transport transport, long connection) {
        int answer = transport.send(connection, region, offset, message.length(), context, 0);
        if (answer != Transport.ACCEPTED) {
            return false;
        }
        isSending = true;
        sequence++;
        bytes += message.length();
        return true;
    }

    /** The send has completed. */
    public void onSent() {
        isSending = false;
    }

    /** Messages so far. */
    public long count() {
        return sequence;
    }

    /** Bytes of all messages so far. */
    public long bytes() {
        return bytes;
    }
}
