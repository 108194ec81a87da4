package dev.verbena.verbs.transport;

import static dev.verbena.verbs.transport.VerbsConnection.ACCEPTED;
import static dev.verbena.verbs.transport.VerbsConnection.CONNECTING;
import static dev.verbena.verbs.transport.VerbsConnection.DRAINING;
import static dev.verbena.verbs.transport.VerbsConnection.DYING;
import static dev.verbena.verbs.transport.VerbsConnection.ENDED;
import static dev.verbena.verbs.transport.VerbsConnection.JOINED;
import static dev.verbena.verbs.transport.VerbsConnection.LEAVING;
import static dev.verbena.verbs.transport.VerbsConnection.LEFT;
import static dev.verbena.verbs.transport.VerbsConnection.OFFERED;
import static dev.verbena.verbs.transport.VerbsConnection.OPEN;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.ConnectionTable;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.VerbsException;
import dev.verbena.verbs.internal.OwnershipTransfer;
import dev.verbena.verbs.transport.VerbsConnection.Sending;
import java.net.URI;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.agrona.CloseHelper;

/**
 * What happens to the connections of one transport while they live: requests are posted and
 * complete, refused ones are repaired, ends are brought to their end. Owned by the transport's
 * thread.
 */
final class VerbsConnections {
    /** Heartbeats in a peer timeout; a shorter one than this cannot be told from a busy machine. */
    private static final int HEARTBEATS = 8;

    private static final long TIMEOUT_MIN_NS = 200_000_000L;
    private static final long FLUSH_WITHIN_NS = 1_000_000_000L;

    private final TransportContext context;
    private final VerbsResources resources;
    private final Sending sending;
    private final WorkPool works;
    private final VerbsRegions regions;
    private final ConnectionTable<VerbsConnection> table;
    private final QueuePairs pairs;
    private final VerbsEvents events;

    /** Places of connections with something that could not be posted yet. */
    private final BitSet waiting = new BitSet();

    /** Where the next round over those that wait begins, at the earliest. */
    private int nextWaiting;

    /** Places of connections whose peers filled slots that are free again. */
    private final BitSet owing = new BitSet();

    /** Places of connections that are being repaired or ended. */
    private final BitSet busy = new BitSet();

    VerbsConnections(
            TransportContext context,
            VerbsResources resources,
            Sending sending,
            VerbsRegions regions,
            QueuePairs pairs) {
        this.context = context;
        this.resources = resources;
        this.sending = sending;
        this.works = sending.works;
        this.regions = regions;
        this.table = new ConnectionTable<>(new VerbsConnection[resources.connectionsMax]);
        this.events = new VerbsEvents(table, works);
        this.pairs = pairs;
    }

    ConnectionTable<VerbsConnection> table() {
        return table;
    }

    /** Takes a place in the table; the caller says how it begins. */
    VerbsConnection add(URI peer, PeerChannel channel) {
        VerbsConnection connection =
                table.add(handle -> new VerbsConnection(handle, peer, channel, sending));
        if (channel != null) {
            channel.attach(connection);
        }
        return connection;
    }

    VerbsEvents events() {
        return events;
    }

    QueuePairs pairs() {
        return pairs;
    }

    // ---- posting and completing ----

    /** Posts what can be posted now; the rest is remembered. */
    void post(VerbsConnection connection) {
        if (!connection.pump()) {
            die(connection, connection.endReason, false);
        } else {
            wantsToPost(connection);
        }
    }

    void wantsToPost(VerbsConnection connection) {
        if (connection.hasUnposted()) {
            waiting.set(connection.index);
        }
    }

    /** A slot that the peer had filled is free. */
    void freed(VerbsConnection connection) {
        connection.credits.free();
        wantsToPost(connection);
        owing.set(connection.index);
    }

    /** Nothing came for a while: peers learn of every free slot, so that none is forgotten. */
    void returnCredits() {
        for (int i = owing.nextSetBit(0); i >= 0; i = owing.nextSetBit(i + 1)) {
            VerbsConnection connection = table.at(i);
            if (connection != null) {
                connection.credits.returnAll();
                post(connection);
            }
        }
        owing.clear();
    }

    boolean owesCredits() {
        return !owing.isEmpty();
    }

    /** Takes the completions of our requests. */
    void takeCompletions() {
        CompletionQueue queue = resources.sends;
        int count;
        do {
            count = poll(queue, CompletionQueue.POLL_MAX);
            for (int i = 0; i < count; i++) {
                CompletionFlyweight completion = queue.completion(i);
                VerbsConnection connection = table.at(VerbsConnection.indexOf(completion.id()));
                if (connection != null) {
                    completed(connection, completion);
                }
            }
            // A dying connection gives its room up: nothing of it may be in the queue then.
        } while (count == CompletionQueue.POLL_MAX && !busy.isEmpty());
        if (!waiting.isEmpty()) {
            postWaiting();
        }
        if (!busy.isEmpty()) {
            goOn();
        }
    }

    /** Completions that were taken; if none can be, the device is lost. */
    int poll(CompletionQueue queue, int limit) {
        int count = queue.poll(limit);
        if (count < 0) {
            lose("its completions cannot be polled, " + queue);
        }
        return Math.max(0, count);
    }

    private void completed(VerbsConnection connection, CompletionFlyweight completion) {
        String problem = connection.completed(completion);
        if (problem != null) {
            die(connection, problem, false);
        } else if (connection.isStopped()) {
            busy.set(connection.index);
        } else {
            wantsToPost(connection);
        }
    }

    /** Each time another one comes first: what there is to send with may not do for all. */
    private void postWaiting() {
        int next = waiting.nextSetBit(nextWaiting);
        int first = next >= 0 ? next : waiting.nextSetBit(0);
        nextWaiting = first + 1;
        postWaiting(first, waiting.length());
        postWaiting(0, first);
    }

    private void postWaiting(int from, int to) {
        for (int i = waiting.nextSetBit(from); i >= 0 && i < to; i = waiting.nextSetBit(i + 1)) {
            VerbsConnection connection = table.at(i);
            if (connection != null && connection.hasUnposted() && !connection.pump()) {
                die(connection, connection.endReason, false);
            }
            if (connection == null || !connection.hasUnposted()) {
                waiting.clear(i);
            }
        }
    }

    // ---- what takes longer ----

    /** Whether time alone may bring something on. */
    boolean isBusy() {
        return !busy.isEmpty();
    }

    private void goOn() {
        for (int i = busy.nextSetBit(0); i >= 0; i = busy.nextSetBit(i + 1)) {
            VerbsConnection connection = table.at(i);
            if (connection == null || !goOn(connection)) {
                busy.clear(i);
            }
        }
    }

    /** True if it has to be looked at again. */
    private boolean goOn(VerbsConnection connection) {
        if (connection.isReadyToRepair()) {
            repair(connection);
        }
        return switch (connection.state) {
            case LEAVING -> leave(connection);
            case DRAINING -> drain(connection);
            case DYING -> bury(connection);
            default -> connection.isStopped();
        };
    }

    private void repair(VerbsConnection connection) {
        try {
            connection.channel.send(Frames.repair(pairs.repair(connection)));
        } catch (VerbsException | IllegalStateException e) {
            die(connection, "cannot be joined anew: " + e.getMessage(), false);
        }
    }

    private boolean leave(VerbsConnection connection) {
        if (!connection.isIdle()) {
            return true;
        }
        if (connection.hasPeerLeft) {
            connection.channel.send(Frames.plain(Frames.BYE_DONE));
            remove(connection);
        } else {
            connection.channel.send(Frames.plain(Frames.BYE));
            connection.channel.deadline(
                    System.nanoTime() + Handshakes.patienceNs(context), "did not say goodbye");
            connection.become(LEFT);
        }
        return false;
    }

    private boolean drain(VerbsConnection connection) {
        if (connection.inFlight() > 0 || !pairs.isDrained(connection)) {
            return true;
        }
        connection.failAll();
        connection.channel.send(Frames.plain(Frames.BYE_DONE));
        end(connection, true);
        return false;
    }

    private boolean bury(VerbsConnection connection) {
        boolean isLate = System.nanoTime() - connection.flushDeadlineNs >= 0;
        if (connection.inFlight() > 0 && !isLate) {
            return true;
        }
        pairs.closeOut(connection);
        connection.failAll();
        if (!pairs.isDrained(connection)) {
            return true;
        }
        if (connection.isQuiet) {
            remove(connection);
        } else {
            end(connection, connection.isInOrder);
        }
        return false;
    }

    private void end(VerbsConnection connection, boolean isInOrder) {
        connection.channel.close();
        pairs.close(connection);
        connection.become(ENDED);
        events.ended(connection, isInOrder);
    }

    /** Without an event. */
    void remove(VerbsConnection connection) {
        if (connection.channel != null) {
            connection.channel.close();
            connection.channel.detach();
        }
        pairs.close(connection);
        connection.become(ENDED);
        table.remove(connection);
    }

    /** The peer is gone, or must go: everything outstanding ends, then the event comes. */
    void die(VerbsConnection connection, String reason, boolean isInOrder) {
        if (connection.state >= DYING) {
            return;
        }
        if (connection.state < JOINED) {
            fail(connection, Status.PEER_DEAD, reason);
            return;
        }
        connection.dying(reason, isInOrder, System.nanoTime() + FLUSH_WITHIN_NS);
        connection.channel.close();
        QueuePairs.stop(connection);
        pairs.markDrain(connection);
        busy.set(connection.index);
    }

    /** No completion can be trusted to come any more: every peer is lost. */
    void lose(String why) {
        if (resources.isLost()) {
            return;
        }
        String what = "RDMA device " + resources.device.info().name() + " is lost: " + why;
        resources.lose(what);
        resources.report(resources.lost());
        for (int i = 0; i < table.capacity(); i++) {
            VerbsConnection connection = table.at(i);
            if (connection != null && connection.state < DYING) {
                die(connection, "cannot be reached any more, for the " + what, false);
            }
        }
    }

    /** The connection that one of these pairs belongs to; null if none does any more. */
    VerbsConnection connectionOf(QueuePair pair) {
        for (int i = 0; i < table.capacity(); i++) {
            VerbsConnection connection = table.at(i);
            if (connection != null && (connection.out == pair || connection.in == pair)) {
                return connection;
            }
        }
        return null;
    }

    /** The peer wrote nonsense: that is reported, and the connection ends. */
    void corrupt(VerbsConnection connection, String what) {
        die(connection, what, false);
        resources.report("peer " + connection.peer + ": " + what);
    }

    /** A connection that was being made ends. */
    void fail(VerbsConnection connection, int status, String reason) {
        boolean isOffer = connection.state == OFFERED;
        connection.become(ENDED);
        if (connection.channel != null) {
            connection.channel.close();
        }
        pairs.close(connection);
        if (isOffer) {
            events.forget(connection);
            table.remove(connection);
        } else {
            events.failed(connection, status, reason);
        }
    }

    // ---- what peers say when the connection is made ----

    /** How often the peer must hear that we live. */
    long heartbeatNs(VerbsConnection connection) {
        long timeoutNs = Math.min(context.peerTimeoutNs(), connection.endpoint.peerTimeoutNs());
        return Math.max(TIMEOUT_MIN_NS, timeoutNs) / HEARTBEATS;
    }

    /** Both ends are joined. */
    void joined(VerbsConnection connection) {
        if (connection.state != CONNECTING && connection.state != ACCEPTED) {
            return;
        }
        connection.become(JOINED);
        // The contract allows twice the timeout: so there is time for a late word.
        long ownNs = Math.max(TIMEOUT_MIN_NS, context.peerTimeoutNs());
        connection.channel.watch(heartbeatNs(connection), ownNs + ownNs / 2);
        events.joined(connection);
    }

    /** A message came before the word that its sender is joined, or before that was delivered. */
    int deliverJoined(VerbsConnection connection, TransportHandler handler, int limit) {
        if (connection.state == ACCEPTED) {
            joined(connection);
        }
        return events.deliver(handler, limit);
    }

    /** The peer ends the connection in order; it goes on carrying out our requests. */
    void left(VerbsConnection connection) {
        if (connection.state == LEAVING) {
            connection.peerLeft();
            busy.set(connection.index);
        } else if (connection.state == LEFT) {
            connection.channel.send(Frames.plain(Frames.BYE_DONE));
        } else if (connection.state == JOINED || connection.state == OPEN) {
            connection.draining();
            pairs.markDrain(connection);
            busy.set(connection.index);
        }
    }

    /** {@code disconnect} of a connection that is joined. */
    int leaveWhenDone(VerbsConnection connection) {
        boolean isKnown = connection.state == OPEN;
        connection.become(LEAVING);
        events.forget(connection);
        if (!isKnown) {
            // Whoever began an attempt hears how it ended; the peers part in order all the same.
            events.failed(connection, Status.CANCELLED, "disconnect was called");
        }
        busy.set(connection.index);
        return Transport.ACCEPTED;
    }

    /** The peer's NIC refused us something: it tells why, and where to go on. */
    void repaired(VerbsConnection connection, Frames.Repaired repaired) {
        if (connection.state >= DYING || !connection.isRepair(repaired.serial())) {
            return;
        }
        try {
            pairs.repaired(connection, repaired);
            post(connection);
        } catch (VerbsException | IllegalStateException e) {
            die(connection, "cannot be joined anew: " + e.getMessage(), false);
        }
    }

    /** Our NIC refused the peer something. */
    void repair(VerbsConnection connection, Frames.Repair repair) {
        if (connection.state < JOINED || connection.state >= DYING) {
            return;
        }
        int status =
                regions.whyRefused(
                        repair.key(), repair.address(), repair.length(), repair.rights());
        try {
            if (repair.isUnanswered() && !mayHaveRefused(connection, status)) {
                die(connection, "gets no answer from our device, which refused nothing", false);
                return;
            }
            int told = status == Status.OK ? Status.STALE_KEY : status;
            connection.channel.send(Frames.repaired(pairs.repair(connection, repair, told)));
        } catch (VerbsException | IllegalStateException e) {
            die(connection, "cannot be joined anew: " + e.getMessage(), false);
        }
    }

    /**
     * The pair may also have failed over a request behind the one that is named, which was carried
     * out then.
     */
    private static boolean mayHaveRefused(VerbsConnection connection, int status) {
        return status != Status.OK && QueuePairs.isInError(connection.in);
    }

    /** By the thread that closes the transport. */
    void closeAll() {
        List<AutoCloseable> steps = new ArrayList<>();
        for (int i = 0; i < table.capacity(); i++) {
            VerbsConnection connection = table.at(i);
            if (connection != null) {
                if (connection.channel != null) {
                    connection.channel.send(Frames.plain(Frames.CLOSED));
                    connection.channel.close();
                }
                steps.add(() -> closePairs(connection));
            }
        }
        steps.add(pairs::closeAll);
        steps.add(this::forgetAll);
        CloseHelper.closeAll(steps); // one that cannot be closed keeps no other open
    }

    private void closePairs(VerbsConnection connection) {
        if (connection.out != null) {
            OwnershipTransfer.takeOver(connection.out);
        }
        pairs.close(connection);
    }

    private void forgetAll() {
        waiting.clear();
        owing.clear();
        busy.clear();
        events.clear();
    }
}
