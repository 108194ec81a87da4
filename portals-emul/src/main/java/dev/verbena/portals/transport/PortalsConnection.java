package dev.verbena.portals.transport;

import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.transport.internal.TableConnection;

/** One connection, or the attempt at one. */
final class PortalsConnection extends TableConnection {
    long target;
    long peerIncarnation;

    // Towards the peer.
    int creditsGranted;

    /** Messages and notifications. */
    int sentCount;

    int takenByPeer;

    // From the peer.
    int creditsGiven;
    int takenCount;
    int takenTold;

    // Its end.
    long messageMark;
    long notifyMark;

    PortalsConnection(int index) {
        super(index);
    }

    /** Everything but index and handle as at the start. */
    @Override
    protected void reset() {
        super.reset();
        target = 0;
        peerIncarnation = 0;
        creditsGranted = 0;
        sentCount = 0;
        takenByPeer = 0;
        creditsGiven = 0;
        takenCount = 0;
        takenTold = 0;
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
}
