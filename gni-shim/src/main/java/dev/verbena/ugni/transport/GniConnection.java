package dev.verbena.ugni.transport;

import dev.verbena.transport.internal.TableConnection;

/**
 * One connection, or the attempt at one. Its slot in the table is used again after it has ended,
 * and so is the memory of its mailbox.
 */
final class GniConnection extends TableConnection {
    GniPeer peer;

    /** Name that the URI asked for; empty: any. */
    String wantedName;

    /** Of an endpoint bound to the peer whose events name the peer's handle; 0: none. */
    long endpoint;

    /** Number of messages in flight that both sides take. */
    int credits;

    /** Where messages begin that are longer than short messages, in the mailboxes of both. */
    long longAt;

    /** A long message whose bytes are under way: those behind it wait. */
    boolean isSendingLong;

    // Our mailbox: the word of returned credits, then what GNI_SmsgInit needs. Kept by the slot.
    long mailbox;

    long mailboxLow;
    long mailboxHigh;
    boolean isRegistered;

    // The peer's.
    long peerMailbox;
    long peerMailboxLow;
    long peerMailboxHigh;

    // Towards the peer: messages and notifications.
    long sentCount;
    long takenByPeer;

    /** Operations that the card has and whose ends were not seen. */
    int inFlight;

    // From the peer.
    int creditsReserved;
    long takenCount;
    long takenTold;

    /** Its mailbox is to be looked at. */
    boolean hasNews;

    GniConnection(int index) {
        super(index);
    }

    /** Everything but index, handle, news and the mailbox's memory as at the start. */
    @Override
    protected void reset() {
        super.reset();
        peer = null;
        wantedName = "";
        endpoint = 0;
        credits = 0;
        longAt = 0;
        isSendingLong = false;
        peerMailbox = 0;
        sentCount = 0;
        takenByPeer = 0;
        inFlight = 0;
        creditsReserved = 0;
        takenCount = 0;
        takenTold = 0;
    }
}
