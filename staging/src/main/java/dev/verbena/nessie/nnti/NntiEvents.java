package dev.verbena.nessie.nnti;

import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import org.agrona.DirectBuffer;

/** Leads each event of the transport to who knows what it means. */
final class NntiEvents implements TransportHandler {
    private final Connections connections;
    private final Arrivals arrivals;
    private final Postings postings;

    NntiEvents(Connections connections, Arrivals arrivals, Postings postings) {
        this.connections = connections;
        this.arrivals = arrivals;
        this.postings = postings;
    }

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        postings.onCompletion(context, status, value);
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        NntiPeer peer = connections.get(context);
        if (peer == null) {
            return;
        }
        int type = Messages.type(buffer, offset, length);
        boolean isReady = peer.state() == NntiPeer.State.READY;
        if (type == Messages.GREETING && !isReady) {
            if (!Messages.readGreeting(buffer, offset, peer)) {
                connections.disconnect(peer);
            }
        } else if (type == Messages.DATA && isReady) {
            arrivals.onData(
                    peer,
                    buffer,
                    offset + Messages.DATA_OFFSET,
                    length - Messages.DATA_OFFSET,
                    token,
                    Messages.number(buffer, offset));
        } else if (type == Messages.NOTICE && isReady) {
            arrivals.onNotice(peer, buffer, offset);
        } else if (type == Messages.ANSWER && isReady) {
            int number = Messages.number(buffer, offset);
            if (!postings.onAnswer(peer, number, Messages.answered(buffer, offset))) {
                arrivals.malformed();
            }
        } else {
            arrivals.malformed();
        }
    }

    @Override
    public void onNotify(
            long connection, long context, int tag, long regionId, long offset, long length) {
        arrivals.onNotify(connections.get(context), tag, regionId, offset, length);
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer privateData, int offset, int length) {
        connections.onRequest(connection, peer);
    }

    @Override
    public void onConnected(long connection, long context) {
        connections.onConnected(context);
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        NntiResult result =
                status == Status.NOT_LISTENING ? NntiResult.EIO : NntiResult.ofStatus(status);
        closed(context, result, reason);
    }

    @Override
    public void onDisconnected(long connection, long context) {
        closed(context, NntiResult.OK, "the peer has disconnected");
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        closed(context, NntiResult.EIO, reason);
    }

    private void closed(long context, NntiResult result, String reason) {
        NntiPeer peer = connections.get(context);
        if (connections.closed(peer, result, reason) && arrivals.handler() != null) {
            arrivals.handler().onPeerClosed(peer);
        }
    }
}
