package dev.verbena.nessie.nnti;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.PeerSlots;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The peers of a transport, and the greeting that each side sends first. Leads each event of the
 * transport to who knows what it means.
 */
final class Connections implements TransportHandler {
    private final Transport transport;
    private final Postings postings;
    private final Arrivals arrivals;
    private final PeerSlots<NntiPeer> peers;
    private final RemoteDescriptor variables = new RemoteDescriptor();
    private final UnsafeBuffer noData = new UnsafeBuffer(new byte[0]);
    private final List<NntiPeer> ungreeted = new ArrayList<>();
    final long id;

    Connections(
            Transport transport, Postings postings, Arrivals arrivals, int limit, Variables own) {
        this.transport = transport;
        this.postings = postings;
        this.arrivals = arrivals;
        this.peers = new PeerSlots<>(limit);
        // The address says which incarnation of which process it is.
        byte[] url = transport.uri().toString().getBytes(StandardCharsets.UTF_8);
        this.id = UUID.nameUUIDFromBytes(url).getMostSignificantBits(); // never 0: its version
        own.describe(variables);
    }

    /**
     * Starts to connect; the peer's state says how it goes.
     *
     * @throws NntiException {@code EINVAL} for an address of another scheme, or none; {@code
     *     ENOMEM}
     */
    NntiPeer connect(String address, long timeoutNs) {
        try {
            URI url = URI.create(address);
            String scheme = transport.uri().getScheme();
            if (!scheme.equals(url.getScheme())) {
                throw new IllegalArgumentException("this transport is " + scheme);
            }
            return connect(url, timeoutNs);
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new NntiException(
                    NntiResult.EINVAL, "connect to '%s': %s".formatted(address, e.getMessage()));
        }
    }

    private NntiPeer connect(URI url, long timeoutNs) {
        NntiPeer peer = peers.add(context -> new NntiPeer(context, url));
        if (peer == null) {
            throw new NntiException(NntiResult.ENOMEM, "connect to " + url + ": too many peers");
        }
        try {
            peer.connection(transport.connect(url, noData, 0, 0, peer.context, timeoutNs));
        } catch (RuntimeException e) {
            peers.remove(peer.context);
            throw e;
        }
        if (peer.connection <= 0) {
            int answer = (int) peer.connection;
            closed(peer, NntiResult.ofAnswer(answer), "the transport answered " + answer);
        }
        return peer;
    }

    @Override
    public void onConnectRequest(
            long connection, URI url, DirectBuffer privateData, int offset, int length) {
        NntiPeer peer = peers.add(context -> new NntiPeer(context, url));
        if (peer == null) {
            transport.reject(connection);
            return;
        }
        peer.connection(connection);
        if (transport.accept(connection, peer.context) != Transport.ACCEPTED) {
            closed(peer, NntiResult.EIO, "it was gone before it was accepted");
        }
    }

    @Override
    public void onConnected(long connection, long context) {
        NntiPeer peer = peers.get(context);
        if (peer != null) {
            ungreeted.add(peer);
        }
    }

    /** Sends greetings that are due; work done. */
    int doWork() {
        int before = ungreeted.size();
        if (before > 0) {
            ungreeted.removeIf(this::greet);
        }
        return before - ungreeted.size();
    }

    /** False: not now. */
    private boolean greet(NntiPeer peer) {
        int at = postings.claim();
        if (at < 0) {
            return false;
        }
        Messages.greeting(postings.messages, at, id, variables);
        return postings.commit(peer, Messages.GREETING_LENGTH) != NntiResult.EAGAIN;
    }

    /** Ends a connection in order. */
    void disconnect(NntiPeer peer) {
        if (peer.state() != NntiPeer.State.CLOSED) {
            arrivals.drop(peer);
            transport.disconnect(peer.connection);
            closed(peer, NntiResult.OK, "disconnected");
        }
    }

    void disconnectAll() {
        peers.forEach(this::disconnect);
    }

    private void closed(NntiPeer peer, NntiResult result, String reason) {
        peers.remove(peer.context);
        peer.closed(result, reason);
        postings.onPeerClosed(peer);
    }

    /** By the other end; nothing happens if it was closed before. */
    private void lost(long context, NntiResult result, String reason) {
        NntiPeer peer = peers.get(context);
        if (peer != null) {
            closed(peer, result, reason);
            arrivals.onPeerClosed(peer);
        }
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        boolean isAlone = status == Status.NOT_LISTENING;
        lost(context, isAlone ? NntiResult.EIO : NntiResult.ofStatus(status), reason);
    }

    @Override
    public void onDisconnected(long connection, long context) {
        lost(context, NntiResult.OK, "the peer has disconnected");
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        lost(context, NntiResult.EIO, reason);
    }

    // ---- operations and messages

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        postings.onCompletion(context, status, value);
    }

    @Override
    public void onNotify(
            long connection, long context, int tag, long regionId, long offset, long length) {
        // The tag is the peer's operation.
        arrivals.onNotify(peers.get(context), tag, regionId, offset, length);
    }

    @Override
    public void onMessage(
            long handle, long context, DirectBuffer buffer, int offset, int length, long token) {
        NntiPeer peer = peers.get(context);
        if (peer == null) {
            return;
        }
        int type = Messages.type(buffer, offset, length);
        boolean isReady = peer.state() == NntiPeer.State.READY;
        if (type == Messages.GREETING && !isReady) {
            if (!Messages.readGreeting(buffer, offset, peer)) {
                transport.disconnect(peer.connection);
                closed(peer, NntiResult.EIO, "its greeting is malformed or of another version");
            }
        } else if (type == Messages.DATA && isReady) {
            arrivals.onData(peer, buffer, offset, length, token);
        } else if (type == Messages.NOTICE && isReady) {
            Messages.readNotice(buffer, offset, peer, arrivals);
        } else if (type == Messages.ANSWER && isReady) {
            int number = Messages.number(buffer, offset);
            if (!postings.onAnswer(peer, number, Messages.answered(buffer, offset))) {
                arrivals.refused();
            }
        } else {
            arrivals.refused();
        }
    }
}
