package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsEventFlyweight;
import java.net.URI;

/**
 * One connection, or the attempt at one. Its slot in the table is used again after it has ended.
 */
final class PortalsConnection {
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
    URI peer;
    long target;
    long peerIncarnation;

    /** The peer's handle; travels with everything sent there. */
    int peerHandle;

    /** Longest message that both sides take. */
    int messageLengthMax;

    // Towards the peer.
    int creditsGranted;

    /** Messages and notifications. */
    int sentCount;

    int sentMessages;
    int takenByPeer;

    // From the peer.
    int creditsGiven;
    int receivedCount;
    int takenCount;
    int takenTold;

    // What is to be sent to the peer's system queue as soon as it takes it.
    int pendingRecord;
    long deadlineNs;
    boolean hasDeadline;
    boolean isQuietEnd;

    // Its end.
    boolean isLost;
    int status;
    String reason;
    long messageMark;
    long notifyMark;
    long stoppedSinceNs;
    boolean isStopped;

    byte[] privateData;

    PortalsConnection(int index) {
        this.index = index;
    }

    /** Everything but index and handle as at the start. */
    void reset() {
        state = FREE;
        context = 0;
        peer = null;
        target = 0;
        peerIncarnation = 0;
        peerHandle = 0;
        messageLengthMax = 0;
        creditsGranted = 0;
        sentCount = 0;
        sentMessages = 0;
        takenByPeer = 0;
        creditsGiven = 0;
        receivedCount = 0;
        takenCount = 0;
        takenTold = 0;
        pendingRecord = 0;
        hasDeadline = false;
        isQuietEnd = false;
        isLost = false;
        status = 0;
        reason = null;
        isStopped = false;
        privateData = null;
    }

    /** Messages and notifications that may still be sent. */
    int credits() {
        return creditsGranted - (sentCount - takenByPeer);
    }

    /**
     * The peer has taken so many, modulo 2^16. Returned credits and messages come through two
     * queues: a number that is behind the present one is old news.
     *
     * @return false if it cannot have
     */
    boolean onTaken(int taken) {
        int more = (short) (taken - takenByPeer);
        if (more > sentCount - takenByPeer) {
            return false;
        }
        takenByPeer += Math.max(0, more);
        return true;
    }

    /**
     * Whether an event comes from the peer, in the incarnation that this connection is bound to.
     */
    boolean isFrom(PortalsEventFlyweight event) {
        return event.process() == target && event.incarnation() == peerIncarnation;
    }

    @Override
    public String toString() {
        return "connection 0x" + Integer.toHexString(handle) + " to " + peer;
    }
}
