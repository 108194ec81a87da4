package dev.verbena.staging.control;

import dev.verbena.staging.Names;
import dev.verbena.staging.RareReports;
import dev.verbena.transport.Transport;
import java.net.URI;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;

/**
 * The side of a protocol that is connected to: takes connections as long as there is room, tells
 * the protocol whose record came, and drops a peer that sends what the protocol refuses. Owned by
 * the transport's thread.
 *
 * @param <P> the protocol's peers
 */
public final class RecordServer<P extends RecordServer.Peer> {
    private static final int POLL_LIMIT = 64;
    private static final int CLOSE_POLLS = 1000;
    private static final long CLOSE_PAUSE_NS = 1_000_000;

    private final Transport transport;
    private final RecordOutbox outbox;
    private final Protocol<P> protocol;
    private final RareReports hostile;
    private final PeerSlots<P> peers;
    private final Events events = new Events();

    /** A peer. A protocol derives a class that has what it needs itself. */
    public static class Peer {
        private final long connection;
        final long context;

        /** As the server says. */
        protected Peer(long connection, long context) {
            this.connection = connection;
            this.context = context;
        }

        /** The transport's handle. */
        public final long connection() {
            return connection;
        }
    }

    /**
     * What a protocol does.
     *
     * @param <P> its peers
     */
    public interface Protocol<P extends RecordServer.Peer> {
        /** A new peer, which has said nothing yet. */
        P connected(long connection, long context);

        /**
         * A record.
         *
         * @throws IllegalArgumentException if it is malformed or not allowed: the peer is dropped
         */
        void onRecord(P peer, DirectBuffer buffer, int offset, int length);

        /** The peer's connection has ended; what is outstanding has completed, or will. */
        default void onGone(P peer) {}

        /** An operation has completed that is not the outbox's. */
        default void onCompletion(long context, int status) {}
    }

    /**
     * Listens from now on.
     *
     * @param transport not closed by this
     * @param outbox from which the protocol sends; not closed by this
     * @param peersMax peers at a time; more are rejected
     * @param errorHandler is told of peers that are dropped
     */
    public RecordServer(
            Transport transport,
            RecordOutbox outbox,
            int peersMax,
            Protocol<P> protocol,
            ErrorHandler errorHandler) {
        this.transport = transport;
        this.outbox = outbox;
        this.protocol = protocol;
        this.hostile = new RareReports(errorHandler);
        this.peers = new PeerSlots<>(peersMax);
        transport.listen();
    }

    /** Takes events of the transport, not without end; how many there were. */
    public int poll() {
        return Math.max(0, transport.poll(events, POLL_LIMIT));
    }

    /** Every peer, which may be dropped meanwhile. */
    public void forEach(Consumer<P> action) {
        peers.forEach(action);
    }

    /** Ends a peer's connection; its protocol hears of it as of any other end. */
    public void drop(P peer, String why) {
        if (end(peer)) {
            // One that connects again and again cannot fill the error log.
            hostile.report(
                    transport.nanoTime(),
                    "a peer is dropped: " + Names.readable(why),
                    IllegalStateException::new);
        }
    }

    /**
     * As {@link #drop}, and nothing is reported: the transport tells only the other side. False: it
     * had ended before.
     */
    public boolean end(P peer) {
        transport.disconnect(peer.connection());
        return gone(peer.context);
    }

    private boolean gone(long context) {
        P peer = peers.get(context);
        if (peers.remove(context)) {
            protocol.onGone(peer);
        }
        return peer != null;
    }

    /**
     * Disconnects every peer and takes events until nothing is outstanding, at most a second.
     *
     * @param isQuiet whether what the protocol itself has posted has completed
     */
    public void close(BooleanSupplier isQuiet) {
        peers.forEach(peer -> transport.disconnect(peer.connection()));
        for (int i = 0; i < CLOSE_POLLS && !(outbox.isIdle() && isQuiet.getAsBoolean()); i++) {
            if (poll() == 0) {
                transport.await(transport.nanoTime() + CLOSE_PAUSE_NS);
            }
        }
    }

    private final class Events implements ConnectionEnds {
        @Override
        public void onConnectRequest(
                long connection, URI uri, DirectBuffer privateData, int offset, int length) {
            P peer = peers.add(context -> protocol.connected(connection, context));
            if (peer == null) {
                transport.reject(connection);
            } else if (transport.accept(connection, peer.context) != Transport.ACCEPTED) {
                gone(peer.context);
            }
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            P peer = peers.get(context);
            if (peer == null) {
                return;
            }
            try {
                protocol.onRecord(peer, buffer, offset, length);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                drop(peer, e.getMessage());
            }
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            if (!outbox.onCompletion(context)) {
                protocol.onCompletion(context, status);
            }
        }

        @Override
        public void onGone(long connection, long context, String reason) {
            gone(context);
        }
    }
}
