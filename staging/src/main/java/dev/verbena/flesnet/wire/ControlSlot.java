package dev.verbena.flesnet.wire;

import dev.verbena.transport.Transport;

/**
 * Where the messages of one connection are written, one after the other: the next has room when the
 * send of the last has completed, so that positions coalesce meanwhile (section 3.6). One thread;
 * allocates nothing.
 */
public final class ControlSlot {
    private final ControlMemory memory;
    private final int index;
    private final int sender;
    private final long context;
    private final SyncFlyweight message = new SyncFlyweight();
    private boolean isLong;
    private boolean isSending;
    private long sequence;

    ControlSlot(ControlMemory memory, int index, int sender, long context) {
        this.memory = memory;
        this.index = index;
        this.sender = sender;
        this.context = context;
    }

    /** Whether a message can be written. */
    public boolean isFree() {
        return !isSending;
    }

    /** Begins a message. */
    public SyncFlyweight begin(int type) {
        isLong = SyncFlyweight.isAboutFailures(type);
        return message.begin(
                memory.memory(isLong), memory.offset(isLong, index), type, sender, sequence + 1);
    }

    /** Sends the message that was begun; false: not now. */
    public boolean send(Transport transport, long connection) {
        int answer =
                transport.send(
                        connection,
                        memory.region(isLong),
                        memory.offset(isLong, index),
                        message.length(),
                        context,
                        0);
        if (answer != Transport.ACCEPTED) {
            return false;
        }
        isSending = true;
        sequence++;
        return true;
    }

    /** The send has completed. */
    public void onSent() {
        isSending = false;
    }

    /** Bytes of the message that was begun last. */
    int length() {
        return message.length();
    }
}
