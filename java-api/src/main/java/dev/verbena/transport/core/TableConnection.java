package dev.verbena.transport.core;

import java.net.URI;

/**
 * One connection, or the attempt at one, of a provider whose peers exchange records to connect,
 * accept and disconnect. Its slot in the table is used again after it has ended. One thread. Others
 * read the fields; the methods write them.
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

    /** Number of the peer's process, as the provider counts them; 0: not known. */
    public long peerProcess;

    /** Incarnation of that process to which the connection is bound; 0: not bound. */
    public long peerIncarnation;

    /** The peer's handle; travels with everything sent there. */
    public int peerHandle;

    /** Longest message that both sides take. */
    public int messageLengthMax;

    /** Messages and notifications that may be in flight to the peer. */
    public int credits;

    /** Messages and notifications that may be in flight from the peer. */
    public int creditsGiven;

    /** Messages and notifications sent to the peer. */
    public long sentCount;

    /** How many of those the peer needs no more. */
    public long takenByPeer;

    /** Messages sent to the peer: the number of the next. */
    public int sentMessages;

    /** Messages that came from the peer: the number of the next. */
    public int receivedCount;

    /** Messages and notifications of the peer that are not needed any more. */
    public long takenCount;

    /** The {@link #takenCount} that the peer was told last. */
    public long takenTold;

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

    private int inFlight;
    private boolean isStopped;
    private long stoppedSinceNs;

    /** A free slot. */
    protected TableConnection(int index) {
        this.index = index;
    }

    /** Everything but index and handle as at the start. */
    protected void reset() {
        state = FREE;
        context = 0;
        uri = null;
        peerProcess = 0;
        peerIncarnation = 0;
        peerHandle = 0;
        messageLengthMax = 0;
        credits = 0;
        creditsGiven = 0;
        sentCount = 0;
        takenByPeer = 0;
        sentMessages = 0;
        receivedCount = 0;
        takenCount = 0;
        takenTold = 0;
        pendingRecord = 0;
        privateData = null;
        hasDeadline = false;
        isQuietEnd = false;
        isLost = false;
        reason = null;
        isStopped = false;
        inFlight = 0;
    }

    /** The slot is taken, under this handle. */
    final void take(int handle) {
        reset();
        this.handle = handle;
    }

    // ---- states ----

    /** We are about to ask. */
    final void connecting(URI uri, byte[] privateData, long context, long deadlineNs) {
        state = CONNECTING;
        this.uri = uri;
        this.privateData = privateData;
        this.context = context;
        this.deadlineNs = deadlineNs;
        hasDeadline = true;
    }

    /** The peer has asked. */
    final void offered(URI uri) {
        state = OFFERED;
        this.uri = uri;
    }

    /** The user accepts. */
    final void accepted(long context) {
        state = CONNECTED;
        this.context = context;
        isStopped = false;
    }

    /** Both sides know. */
    final void connected() {
        state = CONNECTED;
        hasDeadline = false;
        privateData = null;
    }

    /** The peer will send no more. */
    final void ending(boolean isLost, String reason) {
        state = ENDING;
        this.isLost = isLost;
        this.reason = reason;
    }

    /** The user asked for the end, which is no event. */
    final void endedQuietly() {
        state = ENDED;
        isQuietEnd = true;
    }

    /** Only the last event is left. */
    final void ended() {
        state = ENDED;
        hasDeadline = false;
    }

    /** From now on this record is to be sent; 0: none. */
    final void pend(int record) {
        pendingRecord = record;
    }

    // ---- the peer ----

    /** Everything for this connection goes to this incarnation of the process only. */
    final void bind(long process, long incarnation) {
        peerProcess = process;
        peerIncarnation = incarnation;
    }

    /** What the peer and we have agreed upon. */
    public final void agree(int peerHandle, int credits, int creditsGiven, int messageLengthMax) {
        this.peerHandle = peerHandle;
        this.credits = credits;
        this.creditsGiven = creditsGiven;
        this.messageLengthMax = messageLengthMax;
    }

    /** Whether it is bound to this incarnation of this process. */
    public final boolean isWith(long process, long incarnation) {
        return peerProcess == process && peerIncarnation == incarnation;
    }

    /**
     * How long the peer's process has been seen stopped without a break.
     *
     * @return nanoseconds; below 0: it runs, or is seen stopped for the first time
     */
    final long stoppedForNs(boolean isStoppedNow, long nowNs) {
        boolean wasStopped = isStopped;
        isStopped = isStoppedNow;
        if (!wasStopped || !isStoppedNow) {
            stoppedSinceNs = nowNs;
            return -1;
        }
        return nowNs - stoppedSinceNs;
    }

    // ---- messages and credits ----

    /** One more operation is with the interface. */
    public final void onPosted() {
        inFlight++;
    }

    /** One of those has ended. */
    public final void onPostEnded() {
        inFlight--;
    }

    /** Operations that the interface has. */
    public final int inFlight() {
        return inFlight;
    }

    /** A message was sent. */
    public final void onMessageSent() {
        sentCount++;
        sentMessages++;
    }

    /** A notification, or the credit of a message, was sent. */
    public final void onCreditUsed() {
        sentCount++;
    }

    /** What was to use a credit came to nothing. */
    public final void onCreditUnused() {
        sentCount--;
    }

    /** A message whose credit is used already was sent. */
    public final void onNumberUsed() {
        sentMessages++;
    }

    /** A message came. */
    public final void onMessageReceived() {
        receivedCount++;
    }

    /** Whether the peer has room for one more message or notification, as far as we know. */
    public final boolean hasCredit() {
        return sentCount - takenByPeer < credits;
    }

    /**
     * The peer needs so many of our messages and notifications no more.
     *
     * @return false if that cannot be: it is more than were sent
     */
    public final boolean onTakenByPeer(long taken) {
        if (taken > sentCount) {
            return false;
        }
        takenByPeer = taken;
        return true;
    }

    /** A message or notification of the peer is not needed any more. */
    final void onTaken() {
        takenCount++;
    }

    /** The peer was told of so many. */
    public final void onTakenTold(long taken) {
        takenTold = taken;
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(handle) + " to " + uri;
    }
}
