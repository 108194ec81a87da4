package dev.verbena.ugni.transport;

import dev.verbena.transport.core.TableConnection;

/**
 * One connection, or the attempt at one. Its slot in the table is used again after it has ended,
 * and so is the memory of its mailbox. Others read the fields; the methods write them.
 */
final class GniConnection extends TableConnection {
    GniPeer peer;

    /** Name that the URI asked for; empty: any. */
    String wantedName;

    /** Of an endpoint bound to the peer whose events name the peer's handle; 0: none. */
    long endpoint;

    /** Where messages begin that are longer than short messages, in the mailboxes of both. */
    long longAt;

    // Our mailbox: the word of returned credits, then what GNI_SmsgInit needs. Kept by the slot.
    long mailbox;

    long mailboxLow;
    long mailboxHigh;
    boolean isRegistered;

    // The peer's.
    long peerMailbox;
    long peerMailboxLow;
    long peerMailboxHigh;

    /** Whether a handler looks at a message in our mailbox. */
    private boolean isShowing;

    /** A long message whose bytes are under way: those behind it wait. */
    private boolean isSendingLong;

    GniConnection(int index) {
        super(index);
    }

    /** Everything but index, handle and the mailbox's memory as at the start. */
    @Override
    protected void reset() {
        super.reset();
        peer = null;
        wantedName = "";
        endpoint = 0;
        longAt = 0;
        isSendingLong = false;
        isShowing = false;
        peerMailbox = 0;
    }

    /** The URI asks for a transport of this name. */
    void want(String name) {
        wantedName = name;
    }

    /** Records go to this peer. */
    void join(GniPeer peer) {
        this.peer = peer;
    }

    /** The mailbox has this memory, also after connections that came to nothing. */
    void mailbox(long memory) {
        mailbox = memory;
    }

    /** The peer may write in the mailbox. */
    void registered(long low, long high) {
        mailboxLow = low;
        mailboxHigh = high;
        isRegistered = true;
    }

    /** The peer may not write there any more. */
    void deregistered() {
        isRegistered = false;
    }

    /** The peer may never end writing there: the next connection needs another. */
    void abandonMailbox() {
        mailbox = 0;
        isRegistered = false;
    }

    /** Where the peer's mailbox is. */
    void peerMailbox(long address, long low, long high) {
        peerMailbox = address;
        peerMailboxLow = low;
        peerMailboxHigh = high;
    }

    /** Messages go through this endpoint; 0: through none any more. */
    void endpoint(long endpoint, long longAt) {
        this.endpoint = endpoint;
        this.longAt = longAt;
    }

    void showing(boolean isLookedAt) {
        isShowing = isLookedAt;
    }

    boolean isShowing() {
        return isShowing;
    }

    void sendingLong(boolean isSending) {
        isSendingLong = isSending;
    }

    boolean isSendingLong() {
        return isSendingLong;
    }
}
