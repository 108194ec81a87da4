package dev.verbena.portals.transport;

import dev.verbena.portals.PeerState;
import dev.verbena.transport.TransportContext;

/**
 * The look at whether the process of a connection still lives, and runs. One that is dead, replaced
 * or stopped for longer than the peer timeout is lost. One thread.
 */
final class PeerWatch {
    private final Card card;
    private final TransportContext context;
    private final Connections connections;

    PeerWatch(Card card, TransportContext context, Connections connections) {
        this.card = card;
        this.context = context;
        this.connections = connections;
    }

    /** Looks at one connection; called now and then. */
    void look(PortalsConnection c, long nowNs) {
        boolean isWatched =
                c.state == PortalsConnection.CONNECTING
                        || c.state == PortalsConnection.OFFERED
                        || c.state == PortalsConnection.CONNECTED
                        || (c.state == PortalsConnection.ENDED && c.isQuietEnd);
        if (!isWatched) {
            return;
        }
        int state = card.ni.peerState(c.target);
        if (state == PeerState.DEAD || card.ni.peerIncarnation() != c.peerIncarnation) {
            connections.lose(c, "its process is gone, or somebody cut a file of its memory");
        } else if (state != PeerState.STOPPED) {
            c.isStopped = false;
        } else if (!c.isStopped) {
            c.isStopped = true;
            c.stoppedSinceNs = nowNs;
        } else if (nowNs - c.stoppedSinceNs >= context.peerTimeoutNs()) {
            connections.lose(c, "its process has been stopped for longer than the peer timeout");
            tellGivenUp(c);
        }
    }

    /** A peer that goes on after it was given up must learn that, unless its queue is full. */
    private void tellGivenUp(PortalsConnection c) {
        if (c.state == PortalsConnection.ENDING) {
            card.record.write(
                    ControlRecord.DISCONNECT,
                    c.peerHandle,
                    c.handle,
                    c.creditsGiven,
                    context.messageLengthMax(),
                    null);
            card.putRecord(c.target, Card.ANSWER_BITS);
        }
    }
}
