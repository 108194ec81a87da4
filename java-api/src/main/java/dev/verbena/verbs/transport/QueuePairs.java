package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportContext;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.QueuePairState;
import dev.verbena.verbs.VerbsException;
import dev.verbena.verbs.internal.OwnershipTransfer;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The queue pairs of all connections: made, joined, made anew, and closed when nothing that came
 * through them waits any more. Owned by the transport's thread.
 */
final class QueuePairs {
    /** A pair that carried out requests and is waited for. */
    private record Retired(QueuePair pair, VerbsConnection connection, Mark mark) {}

    /** How far the receives had been polled: how often they were empty, and how many were taken. */
    record Mark(long emptyCount, long polledCount) {}

    /** More repairs than this before the receives were empty once: no honest peer needs them. */
    private static final int RETIRED_MAX = 64;

    private final VerbsResources resources;
    private final TransportContext context;
    private final long incarnation;
    private final Int2ObjectHashMap<VerbsConnection> byIn = new Int2ObjectHashMap<>();
    private final List<Retired> retired = new ArrayList<>();

    /** Those that could not be closed; tried once more at the end. */
    private final List<QueuePair> stuck = new ArrayList<>();

    /** How often the receives were found empty, and how many were taken. */
    private long emptyCount;

    private long polledCount;

    QueuePairs(VerbsResources resources, TransportContext context, long incarnation) {
        this.resources = resources;
        this.context = context;
        this.incarnation = incarnation;
    }

    /** Makes both pairs of a connection. */
    void make(VerbsConnection connection) {
        connection.takeOut(resources.newOut());
        connection.takeIn(resources.newIn());
        byIn.put(connection.in.number(), connection);
    }

    /** Joins both pairs with the peer's. */
    void join(VerbsConnection connection, Endpoint peer) {
        resources.joinIn(connection.in, peer, peer.out());
        resources.joinOut(connection.out, peer, peer.in());
        connection.agreed(peer, context.creditsPerConnection());
    }

    Endpoint endpoint(VerbsConnection connection) {
        return resources.endpoint(connection.out, connection.in, context, incarnation);
    }

    /** Whose requests a pair carries out; null if nobody's any more. */
    VerbsConnection byIn(int number) {
        return byIn.get(number);
    }

    /** A new pair in place of the one that refused. */
    Frames.Repaired repair(VerbsConnection connection, Frames.Repair repair, int status) {
        Frames.check(connection.retiredCount < RETIRED_MAX, "repairs without end");
        QueuePair fresh = resources.newIn();
        try {
            resources.joinIn(
                    fresh,
                    connection.endpoint,
                    connection.endpoint.at(repair.number(), repair.packet()));
        } catch (VerbsException e) {
            close(fresh);
            throw e;
        }
        QueuePair old = connection.in;
        connection.takeIn(fresh);
        byIn.put(fresh.number(), connection);
        retire(connection, old);
        QueuePairAddress own = resources.address(fresh);
        return new Frames.Repaired(own.number(), own.packetNumber(), status, repair.serial());
    }

    /** Whether the pair that carries out requests has refused one. */
    static boolean isInError(QueuePair pair) {
        return pair.state() == QueuePairState.ERROR;
    }

    /** A new pair for requests, in place of the one that was refused something. */
    Frames.Repair repair(VerbsConnection connection) {
        QueuePair fresh = resources.newOut();
        int packet = resources.address(fresh).packetNumber();
        closeOut(connection);
        return connection.repair(fresh, packet);
    }

    void repaired(VerbsConnection connection, Frames.Repaired repaired) {
        Endpoint peer = connection.endpoint;
        resources.joinOut(connection.out, peer, peer.at(repaired.number(), repaired.packet()));
        connection.repaired(repaired.status());
    }

    // ---- the end ----

    /** The receives were polled. */
    void polled(int count) {
        polledCount += count;
        if (count == 0) {
            emptyCount++;
            if (!retired.isEmpty()) {
                closeRetired();
            }
        }
    }

    void markDrain(VerbsConnection connection) {
        connection.markDrain(new Mark(emptyCount, polledCount));
    }

    /** Whether everything that had come when it was marked has been delivered. */
    boolean isDrained(VerbsConnection connection) {
        return isPast(connection.drainMark);
    }

    private boolean isPast(Mark mark) {
        return emptyCount > mark.emptyCount
                || polledCount - mark.polledCount > resources.receives.capacity();
    }

    /** Everything outstanding is flushed; the peer is gone. */
    static void stop(VerbsConnection connection) {
        toError(connection.out);
        toError(connection.in);
    }

    private static void toError(QueuePair pair) {
        try {
            if (pair != null && !pair.isClosed()) {
                pair.toError();
            }
        } catch (VerbsException e) {
            // A pair that was never joined has nothing to flush.
            assert pair != null;
        }
    }

    /** Closes the pair for requests, and the other when its last receives were seen. */
    void close(VerbsConnection connection) {
        closeOut(connection);
        if (connection.in != null) {
            retire(connection, connection.in);
            byIn.remove(connection.in.number());
            connection.takeIn(null);
        }
    }

    /** What the NIC still has of our requests is dropped. */
    void closeOut(VerbsConnection connection) {
        QueuePair pair = connection.out;
        if (pair != null) {
            connection.takeOut(null);
            close(pair);
        }
    }

    /** One that cannot be closed is in nobody's way: what it belonged to goes on to its end. */
    private void close(QueuePair pair) {
        try {
            pair.close();
        } catch (VerbsException e) {
            stuck.add(pair);
            resources.report(e.getMessage(), e);
        }
    }

    private void retire(VerbsConnection connection, QueuePair pair) {
        toError(pair);
        connection.pairRetired();
        retired.add(new Retired(pair, connection, new Mark(emptyCount, polledCount)));
    }

    private void closeRetired() {
        for (int i = retired.size() - 1; i >= 0; i--) {
            Retired old = retired.get(i);
            if (isPast(old.mark())) {
                retired.remove(i);
                old.connection().retiredPairClosed();
                byIn.remove(old.pair().number());
                close(old.pair());
            }
        }
    }

    /** The transport is closed. */
    void closeAll() {
        List<QueuePair> pairs = new ArrayList<>();
        retired.forEach(old -> pairs.add(old.pair()));
        retired.clear();
        byIn.clear();
        stuck.forEach(OwnershipTransfer::takeOver);
        pairs.addAll(stuck);
        stuck.clear();
        CloseHelper.closeAll(pairs); // one that cannot be closed keeps no other open
    }
}
