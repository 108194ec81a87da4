package dev.verbena.dart.server;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.ConnectNote;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.staging.Counters;
import dev.verbena.staging.control.PeerSlots;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The part of t1 that knows who is there: connections and what kind of peer is behind each. A slave
 * registers with its master through {@link SlaveRegistration}; the master's own work is in {@link
 * MasterAdmission}, the clients are in {@link ServedClients}. Owned by t1.
 */
final class ServerRegistry implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_NS = 5_000_000_000L;

    private final ServerShared shared;
    private final ServerSettings settings;
    private final Transport transport;
    private final ControlOutbox outbox;
    final ServedClients clients;
    private final Consumer<ServedClient> reached;
    private final DelegatedClients delegated;
    private final PeerSlots<ServerPeer> peers = new PeerSlots<>(PeerSlots.SLOTS_MAX);
    private final UnsafeBuffer privateData = new UnsafeBuffer(new byte[ConnectNote.LENGTH]);
    private final MasterAdmission desk;
    private final SlaveRegistration registration;
    final ServerBarrier barrier;
    private ServerPeer master;
    private boolean isStopWanted;
    private boolean isStopAtOnce;

    /** Slave: its master is to be asked to stop all servers, perhaps at once. */
    private boolean isStopToBeAsked;

    private boolean isStopAtOnceAsked;
    volatile boolean isReady;
    volatile URI uri;

    ServerRegistry(
            ServerShared shared,
            Transport transport,
            ControlOutbox outbox,
            Consumer<ServedClient> taken,
            Consumer<ServedClient> dropped,
            Consumer<ServedClient> reached,
            long bootTimeoutNs) {
        this.shared = shared;
        this.reached = reached;
        this.settings = shared.settings;
        this.transport = transport;
        this.outbox = outbox;
        this.clients = new ServedClients(shared, outbox, taken, dropped);
        this.delegated = new DelegatedClients(this, shared, transport, outbox);
        this.uri = transport.uri();
        if (settings.isMaster()) {
            desk = new MasterAdmission(shared, transport, outbox, clients, this::serve);
            registration = null;
        } else {
            desk = null;
            master = newPeer(ServerPeer.MASTER);
            registration = new SlaveRegistration(shared, transport, outbox, master, bootTimeoutNs);
        }
        barrier = new ServerBarrier(shared, outbox, desk == null ? null : desk.slaves, master);
    }

    /** The peer of a connection's context; null if it was forgotten. */
    ServerPeer peer(long context) {
        return peers.get(context);
    }

    int doWork(long now) {
        int work = 0;
        if (desk != null) {
            work += desk.doWork(now);
            isReady = desk.isPublished() && !shared.isStopRequested;
        } else {
            work += registration.doWork(now);
        }
        if (isStopToBeAsked) {
            work += askMaster();
        }
        if (isStopWanted) {
            work += stopServers();
        }
        work += delegated.report(master);
        return work + barrier.doWork(desk != null && desk.isComplete());
    }

    /** A process asks that all servers stop; of a slave the master decides, while there is one. */
    void stopServers(ServedClient client, boolean isNow) {
        report(client + " asks all servers to stop" + (isNow ? " at once" : ""));
        boolean isAlone = desk != null || !master.isConnected;
        if (isAlone) {
            isStopAtOnce |= isNow;
            isStopWanted = true;
        } else {
            isStopAtOnceAsked |= isNow;
            isStopToBeAsked = true;
        }
    }

    /** The master stops its slaves, then itself. */
    private int stopServers() {
        if (desk != null && !desk.isStopForwarded(isStopAtOnce)) {
            return 0;
        }
        isStopWanted = false;
        stopThis();
        return 1;
    }

    /**
     * A slave asks its master once, and stops when that says so: one that refuses says nothing, and
     * its end later is no answer.
     */
    private int askMaster() {
        if (!master.isConnected) {
            // It went before it could be asked.
            isStopAtOnce |= isStopAtOnceAsked;
            isStopWanted = true;
        } else {
            ControlFlyweight record = outbox.begin(ControlFlyweight.STOP, shared.job);
            if (record == null) {
                return 0;
            }
            int answer = outbox.send(record.stop(isStopAtOnceAsked), master.connection);
            if (answer != Transport.ACCEPTED) {
                // Later; or it is gone, and the transport will say so.
                return 0;
            }
        }
        isStopToBeAsked = false;
        isStopAtOnceAsked = false;
        return 1;
    }

    private void stopThis() {
        shared.requestStop(isStopAtOnce);
    }

    long nextDeadlineNs(long now) {
        return desk == null ? registration.nextDeadlineNs() : desk.nextDeadlineNs(now);
    }

    // ---- connections

    private ServerPeer newPeer(int kind) {
        return peers.add(context -> new ServerPeer(context, kind));
    }

    void onConnectRequest(long connection) {
        // While it delivers what it has, somebody may still ask it to end at once.
        boolean isClosed = shared.isStopRequested && !settings.isStoppableByClients();
        if (desk == null || isClosed) {
            transport.reject(connection);
            return;
        }
        ServerPeer peer = newPeer(ServerPeer.UNKNOWN);
        peer.connecting(connection);
        if (transport.accept(connection, peer.context) != Transport.ACCEPTED) {
            peers.remove(peer.context);
        }
    }

    void onConnected(long connection, ServerPeer peer) {
        if (peer.client != null && peer.client.state == ServedClient.GONE) {
            // Another process has its place: this one is not to take itself for served.
            transport.disconnect(connection);
            peers.remove(peer.context);
            return;
        }
        if (peer.kind == ServerPeer.MASTER && !registration.isAwaited(connection)) {
            transport.disconnect(connection);
            return;
        }
        peer.connected(connection);
        if (peer.kind == ServerPeer.MASTER) {
            registration.onConnected();
        } else if (peer.client != null && peer.client.control != null) {
            reached.accept(peer.client);
        } else if (peer.client != null) {
            peer.client.oweWelcome();
            clients.hasNews(peer.client);
        }
    }

    void onConnectFailed(ServerPeer peer, int status, String reason) {
        if (peer.kind == ServerPeer.MASTER) {
            registration.onConnectFailed(status, reason);
        } else if (status == Status.TIMED_OUT && mayConnectAgain(peer.client)) {
            // The process waits for this server and asks no other one.
            peers.remove(peer.context);
            connect(peer.client);
        } else {
            onGone(peer, reason);
        }
    }

    /** A client that this server pulls from for the master goes back to it at once. */
    private static boolean mayConnectAgain(ServedClient client) {
        return client != null
                && client.state != ServedClient.GONE
                && client.control == null
                && !client.isLeaving
                && client.mayConnectAgain();
    }

    /** The transport says that a connection has ended, which may be an earlier one of the peer. */
    void onEnded(long connection, long context, String reason) {
        ServerPeer peer = peer(context);
        if (peer != null && peer.isConnected && peer.connection == connection) {
            onGone(peer, reason);
        }
    }

    /** The connection has ended; an empty reason: in order. */
    void onGone(ServerPeer peer, String reason) {
        peer.disconnected();
        if (peer.kind == ServerPeer.MASTER) {
            registration.onMasterGone(reason);
            if (isReady && !reason.isEmpty()) {
                report("the master was lost (" + reason + "); transfers go on");
            }
            if (isReady) {
                // One that goes before it took this slave is followed by another.
                barrier.fail("the master is gone");
            }
            clients.forEach(client -> delegated.letGo(client, peer));
            return;
        }
        if (peer.kind == ServerPeer.SLAVE) {
            desk.onSlaveGone(peer);
            clients.forEach(client -> delegated.drop(client, peer));
            if (!reason.isEmpty()) {
                report("slave server " + peer.slaveId + " was lost: " + reason);
                shared.events.peerLost("slave server " + peer.slaveId, reason);
            }
        }
        ServedClient client = peer.client;
        if (client != null && client.peer == peer) {
            if (!client.isLeaving && client.state != ServedClient.GONE) {
                Counters.add(shared.lostClients, 1);
                shared.events.peerLost(client.toString(), reason);
                report(
                        "%s was lost after message %s%s"
                                .formatted(
                                        client,
                                        client.lastSequence,
                                        reason.isEmpty() ? "" : ": " + reason));
            }
            delegated.unreached(client);
            clients.leave(client);
        }
        peers.remove(peer.context);
    }

    // ---- records

    void onRecord(ServerPeer peer, ControlFlyweight record) {
        switch (record.type()) {
            case ControlFlyweight.REGISTER -> {
                if (desk != null) {
                    desk.onRegister(peer, record);
                }
            }
            case ControlFlyweight.FORWARD -> {
                if (peer == master
                        && record.registration().role() == ControlFlyweight.ROLE_DELEGATED) {
                    delegated.serve(record, master);
                } else if (peer == master) {
                    serve(record, null);
                }
            }
            case ControlFlyweight.WELCOME -> {
                if (peer == master && !isReady) {
                    isReady = registration.onWelcome(record);
                }
            }
            case ControlFlyweight.GOODBYE -> onGoodbye(peer, record);
            case ControlFlyweight.DONE, ControlFlyweight.CREDIT -> delegated.onNews(peer, record);
            case ControlFlyweight.HEARTBEAT -> {
                ServedClient client = clientOf(peer, record);
                client.oweHeartbeat();
                clients.hasNews(client);
            }
            case ControlFlyweight.BARRIER -> barrier.onRecord(peer, record);
            case ControlFlyweight.STOP -> onStop(peer, record.result() == 1);
            case ControlFlyweight.RESUME -> onResume(clientOf(peer, record), record);
            default ->
                    throw Code.MALFORMED.because(
                            "record type " + record.type() + " is not for a server");
        }
    }

    private void onStop(ServerPeer peer, boolean isNow) {
        if (peer == master) {
            isStopWanted = false;
            isStopAtOnce |= isNow;
            stopThis();
        } else if (peer.kind == ServerPeer.SLAVE) {
            onStopOfAll(isNow);
        }
    }

    /** A slave asks on behalf of a process, or somebody who calls himself a slave: same rule. */
    private void onStopOfAll(boolean isNow) {
        if (!settings.isStoppableByClients()) {
            throw Code.MALFORMED.because(
                    "a slave asks to stop all servers, but this master does not let processes stop"
                            + " it (DartServer.Context.stoppableByClients)");
        }
        isStopAtOnce |= isNow;
        isStopWanted = true;
    }

    private void onGoodbye(ServerPeer peer, ControlFlyweight record) {
        if (peer.client != null) {
            peer.client.leave();
            return;
        }
        ServedClient client = clients.byId(record.clientId());
        if (client == null) {
            return;
        }
        if (client.control == peer) {
            delegated.letGo(client, peer);
        } else if (client.delegate == peer) {
            delegated.drop(client, peer);
        }
    }

    /** The client of which a peer speaks: the one behind it, or one that it keeps. */
    ServedClient clientOf(ServerPeer peer, ControlFlyweight record) {
        ServedClient client = peer.client;
        ServedClient kept = client == null ? clients.byId(record.clientId()) : null;
        if (kept != null && kept.control == peer) {
            return kept;
        }
        if (client == null || client.id != record.clientId()) {
            throw Code.MALFORMED.because(
                    "record type %s of client %s on a connection not its own",
                    record.type(), record.clientId());
        }
        if (client.state == ServedClient.GONE) {
            throw Code.MALFORMED.because(
                    "record type %s of %s, which has left, or whose rank another process has taken",
                    record.type(), client);
        }
        return client;
    }

    /** The client was served by another server and goes on here. */
    private void onResume(ServedClient client, ControlFlyweight record) {
        boolean isOtherEpoch =
                record.epochMs() != shared.epochMs && record.epochMs() != 0 && shared.epochMs != 0;
        if (isOtherEpoch) {
            transport.disconnect(client.peer.connection);
            onGone(
                    client.peer,
                    ("its id was given by a master of another epoch, %s, this service began "
                                    + "at %s")
                            .formatted(record.epochMs(), shared.epochMs));
            return;
        }
        if (client.outstandingHeaders > 0 || client.hasSentHeader) {
            throw Code.MALFORMED.because("RESUME of " + client + " after its headers");
        }
        client.resume(record.sequence());
    }

    /** Takes a client on: over the connection that it made to the master, or a new one. */
    private void serve(ControlFlyweight forward, ServerPeer from) {
        ServedClient before = clients.byId(forward.registration().assignedId());
        if (before != null && from != null && before.peer == from) {
            before.oweWelcome();
            clients.hasNews(before);
            return;
        }
        if (from != null && !from.mayBecome(forward.registration().assignedId())) {
            Counters.add(shared.malformed, 1);
            report("a process registers as another one, too");
            desk.answer(from, ControlFlyweight.RESULT_FULL);
            return;
        }
        ServedClient client = clients.add(forward);
        if (client == null) {
            report(
                    "no room for client %s: clientsMax is reached"
                            .formatted(forward.registration().assignedId()));
            if (from != null) {
                desk.answer(from, ControlFlyweight.RESULT_FULL);
            }
            return;
        }
        if (from != null) {
            from.becameClient(client);
            client.reachedBy(from);
            client.oweWelcome();
            clients.hasNews(client);
            return;
        }
        connect(client);
    }

    void connect(ServedClient client) {
        ServerPeer peer = newPeer(ServerPeer.CLIENT);
        peer.becameClient(client);
        client.reachedBy(peer);
        int length =
                ConnectNote.encode(
                        privateData, shared.job, transport.limits().privateDataLengthMax());
        try {
            long connection =
                    transport.connect(
                            client.uri, privateData, 0, length, peer.context, CONNECT_TIMEOUT_NS);
            peer.connecting(connection);
            if (connection < 0) {
                onGone(peer, "connect answered " + connection);
            }
        } catch (IllegalArgumentException | TransportException e) {
            onGone(peer, e.getMessage());
        }
    }

    /** Tells every client once; true when all were told. */
    boolean sayGoodbye() {
        isReady = false;
        return clients.sayGoodbye();
    }

    void report(String what) {
        shared.report(Code.SERVER_UNREACHABLE.because(what));
    }

    @Override
    public void close() {
        isReady = false;
        if (desk != null) {
            desk.close();
        }
        if (registration != null) {
            registration.close();
        }
    }
}
