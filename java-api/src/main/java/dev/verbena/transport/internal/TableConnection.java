package dev.verbena.transport.internal;

import java.net.URI;

/**
 * What connections of those providers have in common whose peers tell each other by records that
 * they connect, accept and disconnect. One connection, or the attempt at one. Its slot in the table
 * is used again after it has ended. One thread; the provider reads and writes the fields.
 */
public abstract class TableConnection {
    /** The slot is free. */
    public static final int FREE = 0;

    /** We asked and wait for the answer. */
    public static final int CONNECTING = 1;

    /** The peer asked; accept or reject is due. */
    public static final int OFFERED = 2;

    /** Messages flow. */
    public static final int CONNECTED = 3;

    /** The peer has disconnected or is lost; what it sent before is still being delivered. */
    public static final int ENDING = 4;

    /** The last event waits for poll; then the slot is free. */
    public static final int ENDED = 5;

    /** Of the slot. */
    public final int index;

    /** What the user knows it by: index and generation. */
    public int handle;

    /** One of the constants. */
    public int state;

    /** The user's. */
    public long context;

    /** The peer's. */
    public URI uri;

    /** The peer's handle; travels with everything sent there. */
    public int peerHandle;

    /** Longest message that both sides take. */
    public int messageLengthMax;

    /** Messages sent to the peer. */
    public int sentMessages;

    /** Messages that came from the peer. */
    public int receivedCount;

    /** What is to be sent to the peer as soon as it takes it; 0: nothing. */
    public int pendingRecord;

    /** Travels with the request to connect. */
    public byte[] privateData;

    /** When the attempt is given up; of the transport's clock. */
    public long deadlineNs;

    /** Whether there is a deadline. */
    public boolean hasDeadline;

    /** It ends without an event: the user asked for the end. */
    public boolean isQuietEnd;

    /** It ended because the peer cannot be reached. */
    public boolean isLost;

    /** Why it is lost. */
    public String reason;

    /** Whether the peer's process was stopped when it was last looked at. */
    public boolean isStopped;

    /** Since when it was seen stopped. */
    public long stoppedSinceNs;

    /** A free slot. */
    protected TableConnection(int index) {
        this.index = index;
    }

    /** Everything but index and handle as at the start. */
    protected void reset() {
        state = FREE;
        context = 0;
        uri = null;
        peerHandle = 0;
        messageLengthMax = 0;
        sentMessages = 0;
        receivedCount = 0;
        pendingRecord = 0;
        privateData = null;
        hasDeadline = false;
        isQuietEnd = false;
        isLost = false;
        reason = null;
        isStopped = false;
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(handle) + " to " + uri;
    }
}
