package dev.verbena.nessie.nnti;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.PeerSlots;
import dev.verbena.transport.Transport;
import java.net.URI;
import org.agrona.concurrent.UnsafeBuffer;

/** The peers of a transport, and the greeting that each side sends first. */
final class Connections {
    private final Transport transport;
    private final Postings postings;
    private final PeerSlots<NntiPeer> peers;
    private final Variables variables;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();
    private final UnsafeBuffer noData = new UnsafeBuffer(new byte[0]);
    private final long id;
    private int ungreeted;

    Connections(Transport transport, Postings postings, int peersMax, Variables variables) {
        this.transport = transport;
        this.postings = postings;
        this.peers = new PeerSlots<>(peersMax);
        this.variables = variables;
        this.id = identity(transport.uri());
        variables.describe(descriptor);
    }

    /** The address says which incarnation of which process it is: 64 bits of it, by FNV-1a. */
    private static long identity(URI uri) {
        long hash = 0xcbf29ce484222325L;
        String text = uri.toString();
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100000001b3L;
        }
        return hash == 0 ? 1 : hash;
    }

    long id() {
        return id;
    }

    NntiPeer get(long context) {
        return peers.get(context);
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
                throw new NntiException(
                        NntiResult.EINVAL,
                        "connect to '%s': this transport is %s".formatted(address, scheme));
            }
            return connect(url, timeoutNs);
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new NntiException(
                    NntiResult.EINVAL,
                    "connect to '%s', which is no address: %s".formatted(address, e.getMessage()));
        }
    }

    private NntiPeer connect(URI url, long timeoutNs) {
        NntiPeer peer = peers.add(context -> new NntiPeer(context, url));
        if (peer == null) {
            throw new NntiException(NntiResult.ENOMEM, "connect to " + url + ": too many peers");
        }
        long handle = transport.connect(url, noData, 0, 0, peer.context(), timeoutNs);
        peer.connection(handle);
        if (handle <= 0) {
            closed(peer, Postings.ofAnswer((int) handle), "the transport answered " + handle);
        }
        return peer;
    }

    void onRequest(long connection, URI url) {
        NntiPeer peer = peers.add(context -> new NntiPeer(context, url));
        if (peer == null) {
            transport.reject(connection);
            return;
        }
        peer.connection(connection);
        if (transport.accept(connection, peer.context()) != Transport.ACCEPTED) {
            closed(peer, NntiResult.EIO, "it was gone before it was accepted");
        }
    }

    void onConnected(long context) {
        NntiPeer peer = peers.get(context);
        if (peer != null) {
            peer.connected();
            ungreeted++;
        }
    }

    /** Sends greetings that are due; work done. */
    int doWork(boolean hasQueue) {
        int before = ungreeted;
        if (ungreeted > 0) {
            ungreeted = 0;
            peers.forEach(peer -> greet(peer, hasQueue));
        }
        return before - ungreeted;
    }

    private void greet(NntiPeer peer, boolean hasQueue) {
        if (!peer.needsGreeting()) {
            return;
        }
        int at = postings.claim();
        NntiResult result = NntiResult.EAGAIN;
        if (at >= 0) {
            Messages.greeting(postings.messages(), at, hasQueue, id, variables.count(), descriptor);
            result = postings.commit(peer, Messages.GREETING_LENGTH);
        }
        if (result == NntiResult.EAGAIN) {
            ungreeted++;
        } else {
            peer.greeted();
        }
    }

    /** Ends a connection in order. */
    void disconnect(NntiPeer peer) {
        if (peer.state() != NntiPeer.State.CLOSED) {
            transport.disconnect(peer.connection());
            closed(peer, NntiResult.OK, "disconnected");
        }
    }

    void disconnectAll() {
        peers.forEach(this::disconnect);
    }

    /** False: it was closed before. */
    boolean closed(NntiPeer peer, NntiResult result, String reason) {
        if (peer == null || !peers.remove(peer.context())) {
            return false;
        }
        peer.closed(result, reason);
        postings.onPeerClosed(peer);
        return true;
    }
}
