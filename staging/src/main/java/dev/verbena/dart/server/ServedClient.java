package dev.verbena.dart.server;

import dev.verbena.dart.wire.RegisterFlyweight;
import java.net.URI;
import java.util.ArrayDeque;
import org.agrona.collections.IntArrayList;
import org.agrona.collections.LongArrayList;

/** A compute process as its server knows it. Owned by t1. */
public final class ServedClient {
    static final int CONNECTING = 0;
    static final int ACTIVE = 1;
    static final int GONE = 2;
    static final int DONE_CAPACITY = 128;
    private static final int CONNECTS_MAX = 3;

    final int id;
    final int slot;
    final int generation;
    final int applicationId;

    /** How often this id registered before. */
    final int registration;

    final int rank;
    final URI uri;
    final int creditsGranted;
    final boolean isReturningEarly;
    int state = CONNECTING;
    ServerPeer peer;
    private int connects;

    /** Master: the slave that pulls for it; null: this server does. */
    ServerPeer delegate;

    /** Slave: the master, for which this client is pulled from and which is told; else null. */
    ServerPeer control;

    /** Master: the highest sequence that the delegate has pulled. */
    long transferredUpTo;

    /** Master: the delegate does not know this client yet. */
    boolean isDelegatePending;

    boolean isWelcomePending;
    boolean isLeaving;
    boolean hasBeenToldGoodbye;
    boolean isQueued;
    boolean isHeartbeatPending;
    int waitingCommands;

    /** Nothing is to be pulled from it for now. */
    boolean isSuspended;

    /** Its messages that wait for the end of that, in order. */
    final ArrayDeque<PullMessage> suspended = new ArrayDeque<>();

    /** A header of it has come. */
    boolean hasSentHeader;

    long lastSequence;
    long nextOrdinal;
    int outstandingHeaders;
    int outstandingBuffers;

    final long[] doneSequence = new long[DONE_CAPACITY];
    final int[] doneResult = new int[DONE_CAPACITY];
    final int[] doneCredits = new int[DONE_CAPACITY];
    int doneHead;
    int doneCount;
    int earlyCredits;
    boolean isSeenPending;
    long streamedUpTo;
    long streamedSent;

    /** Messages up to this one are on the disk of the server, or further. */
    long spilledUpTo;

    long spilledSent;

    /** Messages that the server had and has lost, in order; the process is still to be told. */
    final LongArrayList lost = new LongArrayList();

    /** Why, message by message. */
    final IntArrayList lostResults = new IntArrayList();

    /** The last of them. */
    long lostUpTo;

    /** Where the way back ends; null: nowhere. */
    InboxState inbox;

    ServedClient(
            int id,
            int slot,
            int generation,
            RegisterFlyweight register,
            int creditsMax,
            long lastSequence) {
        this.id = id;
        this.slot = slot;
        this.generation = generation;
        this.applicationId = register.applicationId();
        this.registration = register.generation();
        this.rank = register.rank();
        this.uri = register.uri();
        int wanted = Math.max(1, register.creditsWanted());
        this.creditsGranted = Math.min(wanted, creditsMax);
        this.isReturningEarly = creditsGranted < wanted;
        this.lastSequence = lastSequence;
        this.streamedUpTo = lastSequence;
        this.streamedSent = lastSequence;
        this.spilledUpTo = lastSequence;
        this.spilledSent = lastSequence;
    }

    /** Its next message has this sequence; what came before is another server's affair. */
    void resume(long sequence) {
        lastSequence = sequence - 1;
        streamedUpTo = lastSequence;
        streamedSent = lastSequence;
        spilledUpTo = lastSequence;
        spilledSent = lastSequence;
    }

    // ---- its connection

    void reachedBy(ServerPeer its) {
        peer = its;
    }

    /** After a connection to it that was not made in time; counts. */
    boolean mayConnectAgain() {
        return ++connects < CONNECTS_MAX;
    }

    void oweWelcome() {
        isWelcomePending = true;
    }

    /** It was told whether it is served. */
    void welcomed() {
        isWelcomePending = false;
    }

    void activate() {
        state = ACTIVE;
    }

    /** It goes, or was told that it is not served: its end is no failure. */
    void leave() {
        isLeaving = true;
    }

    void gone() {
        state = GONE;
    }

    // ---- served by two

    /** Master: this slave pulls for it, and is still to be told so. */
    void delegateTo(ServerPeer slave) {
        delegate = slave;
        isDelegatePending = true;
    }

    /** Master: the delegate is told of it. */
    void introduced() {
        isDelegatePending = false;
    }

    /** Master: its delegate has pulled messages up to this one. */
    void transferred(long sequence) {
        transferredUpTo = sequence;
    }

    /** Slave: pulls from it for the master. */
    void serveFor(ServerPeer master) {
        control = master;
        state = ACTIVE;
    }

    /** Slave: the master is gone. */
    void letGo() {
        isLeaving = true;
        control = null;
    }

    // ---- its messages

    void headerCame(long sequence) {
        outstandingHeaders++;
        hasSentHeader = true;
        lastSequence = sequence;
    }

    void suspend(boolean isToWait) {
        isSuspended = isToWait;
    }

    /** The place of its next part among all of them. */
    long takeOrdinal() {
        return nextOrdinal++;
    }

    /** A buffer knows it. */
    void bufferTaken() {
        outstandingBuffers++;
    }

    void bufferReturned() {
        outstandingBuffers--;
    }

    /** Messages up to this one have reached the receiver. */
    void streamed(long sequence) {
        streamedUpTo = Math.max(streamedUpTo, sequence);
    }

    /** Messages up to this one are on a disk. */
    void spilled(long sequence) {
        spilledUpTo = Math.max(spilledUpTo, sequence);
    }

    void openInbox(InboxState opened) {
        inbox = opened;
    }

    void closeInbox() {
        inbox = null;
    }

    void commandCame() {
        waitingCommands++;
    }

    void commandDone() {
        waitingCommands--;
    }

    // ---- what it is owed, and told

    /** It is among those to be told something, or not. */
    void queued(boolean isNow) {
        isQueued = isNow;
    }

    /** It may send so many headers more before messages of it are done. */
    void oweCredits(int credits) {
        earlyCredits += credits;
    }

    /** It is to be told up to which header the server has seen them. */
    void oweSeen() {
        isSeenPending = true;
    }

    /** It knows its credits, and what was seen. */
    void creditTold() {
        earlyCredits = 0;
        isSeenPending = false;
    }

    void oweHeartbeat() {
        isHeartbeatPending = true;
    }

    void heartbeatTold() {
        isHeartbeatPending = false;
    }

    void streamedTold(long upTo) {
        streamedSent = upTo;
    }

    void spilledTold(long upTo) {
        spilledSent = upTo;
    }

    void goodbyeTold() {
        hasBeenToldGoodbye = true;
    }

    /** Who is told how far its messages are. */
    ServerPeer told() {
        return control == null ? peer : control;
    }

    /** Master: the delegate owes nothing. */
    boolean isSettledByDelegate() {
        return delegate == null
                || outstandingHeaders == 0
                        && Math.max(lostUpTo, Math.max(streamedUpTo, spilledUpTo))
                                >= transferredUpTo;
    }

    /** Nothing can or may be pulled from it now. */
    boolean isHeld() {
        return isSuspended || control != null && !peer.isConnected;
    }

    boolean addDone(long sequence, int result, int credits) {
        if (doneCount == DONE_CAPACITY) {
            return false;
        }
        int at = (doneHead + doneCount++) & (DONE_CAPACITY - 1);
        doneSequence[at] = sequence;
        doneResult[at] = result;
        doneCredits[at] = credits;
        return true;
    }

    /** The process knows of the first of them. */
    void doneTold() {
        doneHead = (doneHead + 1) & (DONE_CAPACITY - 1);
        doneCount--;
        outstandingHeaders--;
    }

    /**
     * The server cannot deliver this message, although it has read it. Not always in order: a file
     * that could be read the first time may fail when its part is asked for again.
     */
    void addLost(long sequence, int result) {
        lostUpTo = Math.max(lostUpTo, sequence);
        if (!lost.containsLong(sequence)) {
            lost.addLong(sequence);
            lostResults.addInt(result);
        }
    }

    /** The process knows of the first of the lost. */
    void lostTold() {
        lost.removeAt(0);
        lostResults.removeAt(0);
    }

    boolean hasNews() {
        return isWelcomePending
                || doneCount > 0
                || !lost.isEmpty()
                || earlyCredits > 0
                || isSeenPending
                || isHeartbeatPending
                || streamedUpTo > streamedSent
                || hasSpillNews();
    }

    boolean hasSpillNews() {
        return spilledUpTo > spilledSent && spilledUpTo > streamedUpTo;
    }

    @Override
    public String toString() {
        return "client " + id + " (application " + applicationId + ", rank " + rank + ")";
    }
}
