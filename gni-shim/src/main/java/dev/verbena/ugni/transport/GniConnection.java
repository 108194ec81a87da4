package dev.verbena.ugni.transport;

import java.net.URI;

/**
 * One connection, or the attempt at one. Its slot in the table is used again after it has ended,
 * and so is the memory of its mailbox.
 */
final class GniConnection {
    /** The slot is free. */
    static final int FREE = 0;

    /** We asked and wait for the answer. */
    static final int CONNECTING = 1;

    /** The peer asked; accept or reject is due. */
    static final int OFFERED = 2;

    /** Messages flow. */
    static final int CONNECTED = 3;

    /** The peer has disconnected or is lost; what it sent before is still being delivered. */
    static final int ENDING = 4;

    /** The last event waits for poll; then the slot is free. */
    static final int ENDED = 5;

    final int index;

    /** What the user knows it by: index and generation. */
    int handle;

    int state;
    long context;
    URI uri;
    GniPeer peer;

    /** Name that the URI asked for; empty: any. */
    String wantedName;

    /** Of an endpoint bound to the peer whose events name the peer's handle; 0: none. */
    long endpoint;

    /** The peer's handle; travels with everything sent there. */
    int peerHandle;

    /** Longest message, and number of messages in flight, that both sides take. */
    int messageLengthMax;

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
    int sentMessages;

    long takenByPeer;

    /** Operations that the card has and whose ends were not seen. */
    int inFlight;

    // From the peer.
    int creditsReserved;
    int receivedCount;
    long takenCount;
    long takenTold;

    /** Its mailbox is to be looked at. */
    boolean hasNews;

    // What is to be sent to the peer's door as soon as it takes it.
    int pendingRecord;
    long deadlineNs;
    boolean hasDeadline;
    boolean isQuietEnd;
    byte[] privateData;

    // Its end.
    boolean isLost;
    String reason;
    long stoppedSinceNs;
    boolean isStopped;

    GniConnection(int index) {
        this.index = index;
    }

    /** Everything but index, handle, news and the mailbox's memory as at the start. */
    void reset() {
        state = FREE;
        context = 0;
        uri = null;
        peer = null;
        wantedName = "";
        endpoint = 0;
        peerHandle = 0;
        messageLengthMax = 0;
        credits = 0;
        longAt = 0;
        isSendingLong = false;
        peerMailbox = 0;
        sentCount = 0;
        sentMessages = 0;
        takenByPeer = 0;
        inFlight = 0;
        creditsReserved = 0;
        receivedCount = 0;
        takenCount = 0;
        takenTold = 0;
        pendingRecord = 0;
        hasDeadline = false;
        isQuietEnd = false;
        privateData = null;
        isLost = false;
        reason = null;
        isStopped = false;
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(handle) + " to " + uri;
    }
}
