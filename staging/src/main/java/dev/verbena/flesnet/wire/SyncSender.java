package dev.verbena.flesnet.wire;

import dev.verbena.transport.Transport;
import java.util.function.Consumer;

/**
 * Messages of a node to its peers: one at a time on each connection, the most urgent of what is due
 * (section 3.6). One thread; allocates nothing in steady state.
 *
 * @param <P> the peers
 */
public abstract class SyncSender<P extends SyncPeer> {
    private final Transport transport;

    /** By number of the peer, those that may have something to be sent. */
    private final LookTable looks;

    private long messageCount;
    private long byteCount;
    private long nowNs;
    private boolean isRefused;
    private boolean isAsked;

    /** Nothing is sent; peers have numbers from 0. */
    protected SyncSender(Transport transport, int peers) {
        this.transport = transport;
        looks = new LookTable(peers);
    }

    /** The peer of this number, if it can be sent a message now; null: it cannot. */
    protected abstract P sendable(int number);

    /** Sends a peer the most urgent of what is due; false: nothing was sent. */
    protected abstract boolean flush(P peer);

    /** Something happened on a connection. */
    public final void happened(int number) {
        looks.look(number);
    }

    /** Something happened that may concern every connection. */
    public final void happened() {
        looks.lookAll();
    }

    /** Whether a peer was asked since the last call, so that it may be found lost. */
    public final boolean takeAsked() {
        boolean wasAsked = isAsked;
        isAsked = false;
        return wasAsked;
    }

    /** Messages sent. */
    protected final long messageCount() {
        return messageCount;
    }

    /** Bytes of them. */
    protected final long byteCount() {
        return byteCount;
    }

    /** The time of this flush. */
    protected final long nowNs() {
        return nowNs;
    }

    /** Sends at most one message on each connection; answers how many. */
    protected final int flushAll(long now) {
        nowNs = now;
        looks.expire(now);
        int work = 0;
        for (int i = looks.next(0); i >= 0; i = looks.next(i + 1)) {
            work += look(i) ? 1 : 0;
        }
        return work;
    }

    private boolean look(int number) {
        looks.rest(number);
        P peer = sendable(number);
        if (peer == null) {
            return false;
        }
        isRefused = false;
        boolean isSent = flush(peer);
        if (isRefused) {
            looks.look(number);
        } else if (!isSent) {
            looks.lookAt(number, peer.watch().dueNs());
        }
        return isSent;
    }

    /** Sends the message that was begun for a peer; false: not now. */
    protected final boolean send(P peer) {
        boolean isSent = peer.control().send(transport, peer.connection());
        isRefused |= !isSent;
        if (isSent) {
            messageCount++;
            byteCount += peer.control().length();
        }
        return isSent;
    }

    /** As {@link #send(SyncPeer)}; what follows if it was sent allocates nothing. */
    protected final boolean send(P peer, Consumer<? super P> whenSent) {
        boolean isSent = send(peer);
        if (isSent) {
            whenSent.accept(peer);
        }
        return isSent;
    }

    /** Answers a peer that has asked. */
    protected final boolean answer(P peer) {
        peer.control().begin(SyncFlyweight.HEARTBEAT_ACK).i64(0, peer.askedTime());
        return send(peer, SyncPeer::answered);
    }

    /** Asks a peer whether it is there. */
    protected final boolean ask(P peer) {
        peer.control().begin(SyncFlyweight.HEARTBEAT).i64(0, nowNs);
        boolean isSent = send(peer);
        if (isSent) {
            peer.watch().asked(nowNs);
            isAsked = true;
        }
        return isSent;
    }
}
