package dev.verbena.ugni.transport;

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
    void look(GniConnection c, long nowNs) {
        boolean isWatched =
                c.peer != null
                        && (c.state == GniConnection.CONNECTING
                                || c.state == GniConnection.OFFERED
                                || c.state == GniConnection.CONNECTED
                                || (c.state == GniConnection.ENDED && c.isQuietEnd));
        if (!isWatched) {
            return;
        }
        int state = card.peerState(c.peer.address, c.peer.instance);
        if (state == Gni.PEER_DEAD || card.peerIncarnation() != c.peer.incarnation) {
            connections.lose(c, "its process is gone, or somebody cut a file of its memory");
        } else if (state != Gni.PEER_STOPPED) {
            c.isStopped = false;
        } else if (!c.isStopped) {
            c.isStopped = true;
            c.stoppedSinceNs = nowNs;
        } else if (nowNs - c.stoppedSinceNs >= context.peerTimeoutNs()) {
            connections.lose(c, "its process has been stopped for longer than the peer timeout");
            connections.tellGivenUp(c);
        }
    }
}
