package dev.verbena.ugni.transport;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The mailboxes of connections: at 0 a word that the peer writes, the number of our messages that
 * it needs no more, and at 64 what short messages need. Each is registered as long as its
 * connection lives: what a peer writes afterwards finds no registration. One thread.
 */
final class Mailboxes {
    /** Before each message: its length and its number (4 bytes each). */
    static final int HEADER = 8;

    /** Kinds of messages, told by their tags. */
    static final int MESSAGE = 1;

    static final int NOTIFICATION = 2;

    /** Its bytes lie behind the short messages. */
    static final int LONG_MESSAGE = 3;

    /** Longer messages than short messages hold are put, and told by a short one. */
    static final int SHORT_MAX = 65_535 - HEADER;

    private static final int MAILBOX_AT = 64;
    private static final int TYPE_MBOX = 1;
    private static final int SCRATCH = 128;
    private static final long LINE = 64;

    private final GniResources resources;
    private final int creditsMax;
    private final int messageLengthMax;
    private final long length;
    private final UnsafeBuffer local = attributes();
    private final UnsafeBuffer remote = attributes();

    Mailboxes(GniResources resources, int creditsMax, int messageLengthMax) {
        this.resources = resources;
        this.creditsMax = creditsMax;
        this.messageLengthMax = messageLengthMax;
        describe(local, 0, 0, 0, creditsMax, messageLengthMax);
        long needed = ugni.vgn_smsg_size(local.addressOffset());
        Gni.must("GNI_SmsgBufferSizeNeeded", needed);
        this.length = longAt(creditsMax, messageLengthMax) + creditsMax * stride(messageLengthMax);
    }

    /** Where long messages begin in a mailbox of so many credits. */
    private long longAt(int credits, int messageLength) {
        describe(remote, 0, 0, 0, credits, messageLength);
        return MAILBOX_AT + ugni.vgn_smsg_size(remote.addressOffset());
    }

    /** Bytes for each long message; none where all are short. */
    private static long stride(int messageLength) {
        return messageLength <= SHORT_MAX ? 0 : messageLength + LINE - 1 & -LINE;
    }

    /** Where the bytes of long message {@code number} lie, from the mailbox's beginning. */
    static long longOffset(GniConnection c, int number) {
        return c.longAt + (number & c.credits - 1) * stride(c.messageLengthMax);
    }

    private static UnsafeBuffer attributes() {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(SCRATCH, SCRATCH));
    }

    private void describe(
            UnsafeBuffer at, long mailbox, long low, long high, int credits, int messageLength) {
        at.putInt(ugni.VGN_SMSG_TYPE, TYPE_MBOX);
        at.putLong(ugni.VGN_SMSG_BUFFER, mailbox);
        at.putInt(ugni.VGN_SMSG_SIZE, (int) Math.min(length, Integer.MAX_VALUE));
        at.putLong(ugni.VGN_SMSG_HNDL, low);
        at.putLong(ugni.VGN_SMSG_HNDL + Long.BYTES, high);
        at.putInt(ugni.VGN_SMSG_OFFSET, MAILBOX_AT);
        at.putShort(ugni.VGN_SMSG_CREDITS, (short) credits);
        at.putInt(ugni.VGN_SMSG_MAX, HEADER + Math.min(messageLength, SHORT_MAX));
    }

    /** From now on a peer that is told of the mailbox may write to it. */
    void open(GniConnection c) {
        if (c.mailbox == 0) {
            c.mailbox(resources.allocate(length));
        }
        UnsafeApi.setMemory(null, c.mailbox, length, (byte) 0);
        resources.register(c.mailbox, length, 0, true);
        c.registered(resources.handleLow(), resources.handleHigh());
    }

    /** Both sides know of each other: both take the lesser of what either can. */
    void join(GniConnection c, ControlRecord record) {
        int credits = Math.min(creditsMax, record.credits());
        int length = Math.min(messageLengthMax, record.messageLengthMax());
        c.agree(record.from(), credits, credits, length);
        GniPeer peer = c.peer;
        long endpoint =
                resources.endpoint(
                        resources.sourceQueue, peer.address, peer.instance, c.peerHandle);
        c.endpoint(endpoint, longAt(credits, length));
        describe(local, c.mailbox, c.mailboxLow, c.mailboxHigh, credits, length);
        describe(remote, c.peerMailbox, c.peerMailboxLow, c.peerMailboxHigh, credits, length);
        Gni.must(
                "GNI_SmsgInit",
                ugni.vgn_smsg_init(c.endpoint, local.addressOffset(), remote.addressOffset()));
    }

    /**
     * The peer cannot begin to write to it any more. Its memory waits for the next connection,
     * unless the peer is stopped while it writes there: then it stays as it is until the NIC goes.
     */
    void close(GniConnection c) {
        if (c.endpoint != 0) {
            ugni.vgn_ep_destroy(c.endpoint);
            c.endpoint(0, 0);
        }
        if (c.isRegistered) {
            try {
                resources.deregister(c.mailboxLow, c.mailboxHigh);
                c.deregistered();
            } catch (GniFailure e) {
                c.abandonMailbox();
            }
        }
    }

    /** How many of our messages the peer says it has taken. */
    static long takenByPeer(GniConnection c) {
        return UnsafeApi.getLongVolatile(null, c.mailbox);
    }

    /** Tells the peer how many of its messages we have taken; answers below 0: not now. */
    int tellTaken(GniConnection c) {
        return resources.putWord(
                c.endpoint, c.peerMailbox, c.peerMailboxLow, c.peerMailboxHigh, c.takenCount);
    }
}
