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

    private static final int MAILBOX_AT = 64;
    private static final int TYPE_MBOX = 1;
    private static final int SCRATCH = 128;

    private final Card card;
    private final int creditsMax;
    private final int messageLengthMax;
    private final int length;
    private final UnsafeBuffer local = attributes();
    private final UnsafeBuffer remote = attributes();

    Mailboxes(Card card, int creditsMax, int messageLengthMax) {
        this.card = card;
        this.creditsMax = creditsMax;
        this.messageLengthMax = messageLengthMax;
        describe(local, 0, 0, 0, creditsMax, messageLengthMax);
        long needed = ugni.vgn_smsg_size(local.addressOffset());
        this.length = MAILBOX_AT + (int) Gni.must("GNI_SmsgBufferSizeNeeded", needed);
    }

    private static UnsafeBuffer attributes() {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(SCRATCH, SCRATCH));
    }

    private void describe(
            UnsafeBuffer at, long mailbox, long low, long high, int credits, int messageLength) {
        at.putInt(ugni.VGN_SMSG_TYPE, TYPE_MBOX);
        at.putLong(ugni.VGN_SMSG_BUFFER, mailbox);
        at.putInt(ugni.VGN_SMSG_SIZE, length);
        at.putLong(ugni.VGN_SMSG_HNDL, low);
        at.putLong(ugni.VGN_SMSG_HNDL + Long.BYTES, high);
        at.putInt(ugni.VGN_SMSG_OFFSET, MAILBOX_AT);
        at.putShort(ugni.VGN_SMSG_CREDITS, (short) credits);
        at.putInt(ugni.VGN_SMSG_MAX, HEADER + messageLength);
    }

    /** From now on a peer that is told of the mailbox may write to it. */
    void open(GniConnection c) {
        if (c.mailbox == 0) {
            c.mailbox = card.allocate(length);
        }
        UnsafeApi.setMemory(null, c.mailbox, length, (byte) 0);
        card.register(c.mailbox, length, 0, true);
        c.mailboxLow = card.handleLow();
        c.mailboxHigh = card.handleHigh();
        c.isRegistered = true;
    }

    /** Both sides know of each other: both take the lesser of what either can. */
    void join(GniConnection c, int peerCredits, int peerMessageLengthMax) {
        c.credits = Math.min(creditsMax, peerCredits);
        c.messageLengthMax = Math.min(messageLengthMax, peerMessageLengthMax);
        GniPeer peer = c.peer;
        c.endpoint = card.endpoint(card.sourceQueue, peer.address, peer.instance, c.peerHandle);
        int credits = c.credits;
        int length = c.messageLengthMax;
        describe(local, c.mailbox, c.mailboxLow, c.mailboxHigh, credits, length);
        describe(remote, c.peerMailbox, c.peerMailboxLow, c.peerMailboxHigh, credits, length);
        Gni.must(
                "GNI_SmsgInit",
                ugni.vgn_smsg_init(c.endpoint, local.addressOffset(), remote.addressOffset()));
    }

    /** The peer cannot write to it any more; its memory waits for the next connection. */
    void close(GniConnection c) {
        if (c.endpoint != 0) {
            ugni.vgn_ep_destroy(c.endpoint);
            c.endpoint = 0;
        }
        if (c.isRegistered) {
            card.deregister(c.mailboxLow, c.mailboxHigh);
            c.isRegistered = false;
        }
    }

    /** How many of our messages the peer says it has taken. */
    static long takenByPeer(GniConnection c) {
        return UnsafeApi.getLongVolatile(null, c.mailbox);
    }

    /** Tells the peer how many of its messages we have taken; answers below 0: not now. */
    int tellTaken(GniConnection c) {
        return card.putWord(
                c.endpoint, c.peerMailbox, c.peerMailboxLow, c.peerMailboxHigh, c.takenCount);
    }
}
