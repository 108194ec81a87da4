package dev.verbena.dart;

import dev.verbena.agent.Environment;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The part of t1 that knows who is there: publishes the configuration file (master) or registers
 * with the master (slave), takes registrations, gives them out in turn, keeps the clients of this
 * server and owes them answers. Owned by t1.
 */
final class ServerRegistry implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_NS = 5_000_000_000L;
    private static final int TELL_LIMIT = 64;

    /** What the master still has to forward, or keeps until all servers are there. */
    private record Waiting(UnsafeBuffer register, ServerPeer from) {}

    private final ServerShared shared;
    private final DartServer.Context context;
    private final Environment environment;
    private final Transport transport;
    private final ControlOutbox outbox;
    private final Consumer<ServedClient> dropped;
    private final List<ServerPeer> peers = new ArrayList<>();
    private final ServedClient[] slots;
    private final int[] generations;
    private final Int2ObjectHashMap<ServedClient> byId = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<long[]> lastSequences = new Int2ObjectHashMap<>();
    private final ArrayDeque<ServedClient> toTell = new ArrayDeque<>();
    private final ArrayDeque<ServerPeer> refused = new ArrayDeque<>();
    private final Assignments assignments = new Assignments();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final ControlFlyweight waitingRecord = new ControlFlyweight();
    private final Int2ObjectHashMap<ServerPeer> slaves = new Int2ObjectHashMap<>();
    private final UnsafeBuffer privateData = new UnsafeBuffer(new byte[ConnectNote.LENGTH]);
    private final ConfigurationFile file;
    private final MasterLink link;
    private DartConfiguration published;
    private ServerPeer master;
    private boolean hasSentRegister;
    private int lastSlaveId;
    private volatile boolean isReady;
    private volatile URI uri;

    ServerRegistry(
            ServerShared shared,
            Transport transport,
            ControlOutbox outbox,
            Consumer<ServedClient> dropped) {
        this.shared = shared;
        this.context = shared.context;
        this.environment = context.environment;
        this.transport = transport;
        this.outbox = outbox;
        this.dropped = dropped;
        this.slots = new ServedClient[context.clientsMax];
        this.generations = new int[context.clientsMax];
        this.uri = transport.uri();
        if (context.isMaster) {
            file = new ConfigurationFile(environment, context.configurationFile);
            file.onReady(() -> shared.wakeT1.run());
            link = null;
            beMaster();
        } else {
            file = null;
            link =
                    new MasterLink(
                            environment,
                            transport,
                            context.configurationFile,
                            null,
                            null,
                            context.bootTimeoutNs);
            master = newPeer(ServerPeer.MASTER);
        }
    }

    private void beMaster() {
        UUID job =
                context.isLegacyFile
                        ? DartConfiguration.NO_JOB
                        : context.job == null ? Names.job(environment) : context.job;
        transport.listen();
        published =
                new DartConfiguration(
                        job,
                        environment.epochClock().time(),
                        transport.uri(),
                        context.serverCount,
                        context.clientCount);
        shared.job = job;
        shared.serverId = 0;
        assignments.addServer(0);
        file.publish(
                context.isLegacyFile ? published.encodeLegacy() : published.encode(),
                job.toString().substring(0, 8)
                        + "-"
                        + Long.toHexString(environment.nanoClock().nanoTime()));
    }

    boolean isReady() {
        return isReady;
    }

    URI uri() {
        return uri;
    }

    ServerPeer peer(long context) {
        return peers.get((int) context);
    }

    ServedClient client(int slot, int generation) {
        ServedClient client = slots[slot];
        return client != null && client.generation == generation ? client : null;
    }

    int doWork(long now) {
        int work = 0;
        if (file != null && !file.isPublished()) {
            work += file.publishStep();
            isReady = file.isPublished() && !shared.isStopRequested;
        }
        if (link != null && !isReady && !shared.isStopRequested) {
            work += register(now);
        }
        work += forwardWaiting();
        return work;
    }

    private int register(long now) {
        int work = link.doWork(now, master.index);
        if (link.isConnected() && !hasSentRegister) {
            ControlFlyweight record = outbox.begin(ControlFlyweight.REGISTER, link.job());
            if (record != null) {
                record.register(ControlFlyweight.ROLE_SLAVE, 0, 0, 0, transport.uri());
                hasSentRegister = outbox.send(record, link.connection()) == Transport.ACCEPTED;
                work++;
            }
        }
        if (!isReady && link.isTimeOver(now)) {
            throw link.failure();
        }
        return work;
    }

    long nextDeadlineNs() {
        return link != null && !isReady
                ? link.nextDeadlineNs()
                : dev.verbena.agent.ProtocolAgent.NO_DEADLINE;
    }

    // ---- connections

    private ServerPeer newPeer(int kind) {
        for (int i = 0; i < peers.size(); i++) {
            if (peers.get(i) == null) {
                peers.set(i, new ServerPeer(i, kind));
                return peers.get(i);
            }
        }
        ServerPeer peer = new ServerPeer(peers.size(), kind);
        peers.add(peer);
        return peer;
    }

    void onConnectRequest(long connection) {
        if (!context.isMaster || shared.isStopRequested) {
            transport.reject(connection);
            return;
        }
        ServerPeer peer = newPeer(ServerPeer.UNKNOWN);
        peer.connection = connection;
        if (transport.accept(connection, peer.index) != Transport.ACCEPTED) {
            peers.set(peer.index, null);
        }
    }

    void onConnected(long connection, long index) {
        ServerPeer peer = peer(index);
        peer.connection = connection;
        peer.isConnected = true;
        if (peer.kind == ServerPeer.MASTER) {
            link.onConnected();
        } else if (peer.client != null) {
            peer.client.isWelcomePending = true;
            hasNews(peer.client);
        }
    }

    void onConnectFailed(long index, int status, String reason) {
        ServerPeer peer = peer(index);
        if (peer.kind == ServerPeer.MASTER) {
            link.onConnectFailed(environment.nanoClock().nanoTime(), status, reason);
        } else {
            onGone(index, reason);
        }
    }

    /** The connection has ended; an empty reason: in order. */
    void onGone(long index, String reason) {
        ServerPeer peer = peer(index);
        peer.isConnected = false;
        if (peer.kind == ServerPeer.MASTER) {
            hasSentRegister = false;
            if (!isReady) {
                link.onLost(environment.nanoClock().nanoTime(), reason);
            } else if (!reason.isEmpty()) {
                report("the master was lost (" + reason + "); transfers go on");
            }
            return;
        }
        if (peer.kind == ServerPeer.SLAVE) {
            slaves.remove(peer.slaveId);
            assignments.removeServer(peer.slaveId);
            if (!reason.isEmpty()) {
                report("slave server " + peer.slaveId + " was lost: " + reason);
            }
        }
        ServedClient client = peer.client;
        if (client != null && client.peer == peer) {
            if (!client.isLeaving) {
                ServerShared.add(shared.lostClients, 1);
                report(
                        client
                                + " was lost after message "
                                + client.lastSequence
                                + (reason.isEmpty() ? "" : ": " + reason));
            }
            leave(client);
        }
        peers.set(peer.index, null);
    }

    // ---- records

    void onRecord(ServerPeer peer, ControlFlyweight record) {
        switch (record.type()) {
            case ControlFlyweight.REGISTER -> {
                if (context.isMaster) {
                    onRegister(peer, record);
                }
            }
            case ControlFlyweight.FORWARD -> {
                if (peer == master) {
                    serve(record, null);
                }
            }
            case ControlFlyweight.WELCOME -> {
                if (peer == master && !isReady) {
                    onWelcome(record);
                }
            }
            case ControlFlyweight.GOODBYE -> {
                if (peer.client != null) {
                    peer.client.isLeaving = true;
                }
            }
            default ->
                    throw new DartException(
                            DartException.Code.MALFORMED,
                            "record type " + record.type() + " is not for a server");
        }
    }

    private void onWelcome(ControlFlyweight record) {
        if (record.welcomeResult() != ControlFlyweight.RESULT_OK) {
            link.onRefused(environment.nanoClock().nanoTime(), record.welcomeResult());
            transport.disconnect(master.connection);
            return;
        }
        shared.job = link.job();
        shared.serverId = record.serverId();
        isReady = true;
        shared.wakeT3.run();
    }

    private void onRegister(ServerPeer peer, ControlFlyweight record) {
        if (!record.isOfJob(shared.job)) {
            refuse(peer, ControlFlyweight.RESULT_WRONG_JOB);
            return;
        }
        if (shared.isStopRequested) {
            refuse(peer, ControlFlyweight.RESULT_STOPPING);
            return;
        }
        if (record.role() == ControlFlyweight.ROLE_SLAVE) {
            if (peer.kind == ServerPeer.UNKNOWN) {
                peer.kind = ServerPeer.SLAVE;
                peer.slaveId = ++lastSlaveId;
                slaves.put(peer.slaveId, peer);
                assignments.addServer(peer.slaveId);
            }
            refuse(peer, ControlFlyweight.RESULT_OK);
            return;
        }
        // Throws if the address is none, while the sender can still be blamed.
        record.uri();
        waiting.add(new Waiting(record.copy(), peer));
    }

    /** Gives registrations out once all expected servers are there, in order of arrival. */
    private int forwardWaiting() {
        int work = 0;
        while (!refused.isEmpty() && answer(refused.peek())) {
            refused.poll();
            work++;
        }
        if (lastSlaveId + 1 < context.serverCount) {
            return work;
        }
        while (!waiting.isEmpty() && work < TELL_LIMIT && forward(waiting.peek())) {
            waiting.poll();
            work++;
        }
        return work;
    }

    private boolean forward(Waiting one) {
        ControlFlyweight record = waitingRecord.wrap(one.register, 0, ControlFlyweight.LENGTH);
        if (!one.from.isConnected) {
            return true;
        }
        Assignments.Assignment assignment =
                assignments.assign(record.applicationId(), record.rank());
        ControlFlyweight forward = outbox.beginForward(record, assignment.clientId());
        if (forward == null) {
            return false;
        }
        ServerPeer slave = slaves.get(assignment.serverId());
        if (slave == null) {
            forward.end();
            serve(forward, one.from);
            return true;
        }
        // Anything but back pressure means that the slave is going: its loss is reported, and the
        // process registers again or gives up.
        return outbox.send(forward, slave.connection) != Transport.BACK_PRESSURED;
    }

    /** Takes a client on: over the connection that it made to the master, or a new one. */
    private void serve(ControlFlyweight forward, ServerPeer from) {
        ServedClient before = byId.get(forward.assignedId());
        if (before != null && from != null && before.peer == from) {
            before.isWelcomePending = true;
            hasNews(before);
            return;
        }
        if (before != null) {
            leave(before);
        }
        // Numbers go on where the process' predecessor ended: the receiver knows them.
        long[] left = lastSequences.get(forward.assignedId());
        long lastSequence = left == null ? 0 : left[0];
        int slot = freeSlot();
        if (slot < 0) {
            report("no room for client " + forward.assignedId() + ": clientsMax is reached");
            if (from != null) {
                refuse(from, ControlFlyweight.RESULT_FULL);
            }
            return;
        }
        ServedClient client =
                new ServedClient(
                        forward.assignedId(),
                        slot,
                        ++generations[slot],
                        forward,
                        context.creditsPerClient,
                        lastSequence);
        slots[slot] = client;
        byId.put(client.id, client);
        shared.clients.lazySet(shared.clients.get() + 1);
        if (from != null) {
            from.kind = ServerPeer.CLIENT;
            from.client = client;
            client.peer = from;
            client.isWelcomePending = true;
            hasNews(client);
            return;
        }
        ServerPeer peer = newPeer(ServerPeer.CLIENT);
        peer.client = client;
        client.peer = peer;
        int length =
                ConnectNote.encode(
                        privateData, shared.job, transport.limits().privateDataLengthMax());
        try {
            long connection =
                    transport.connect(
                            client.uri, privateData, 0, length, peer.index, CONNECT_TIMEOUT_NS);
            if (connection < 0) {
                onGone(peer.index, "connect answered " + connection);
            }
        } catch (IllegalArgumentException | TransportException e) {
            onGone(peer.index, e.getMessage());
        }
    }

    private int freeSlot() {
        for (int i = 0; i < slots.length; i++) {
            if (slots[i] == null) {
                return i;
            }
        }
        return -1;
    }

    private void leave(ServedClient client) {
        if (client.state == ServedClient.GONE) {
            return;
        }
        client.state = ServedClient.GONE;
        lastSequences.put(client.id, new long[] {client.lastSequence});
        if (byId.get(client.id) == client) {
            byId.remove(client.id);
        }
        shared.clients.lazySet(shared.clients.get() - 1);
        dropped.accept(client);
        freeIfGone(client);
    }

    /** The slot is used again only when no buffer knows it any more. */
    void freeIfGone(ServedClient client) {
        if (client.state == ServedClient.GONE && client.outstandingBuffers == 0) {
            slots[client.slot] = null;
        }
    }

    // ---- answers

    void hasNews(ServedClient client) {
        if (!client.isQueued && client.state != ServedClient.GONE) {
            client.isQueued = true;
            toTell.add(client);
        }
    }

    private void refuse(ServerPeer peer, int result) {
        peer.refusal = result;
        refused.add(peer);
    }

    private boolean answer(ServerPeer peer) {
        if (!peer.isConnected) {
            return true;
        }
        ControlFlyweight record = outbox.begin(ControlFlyweight.WELCOME, shared.job);
        if (record == null) {
            return false;
        }
        record.welcome(0, peer.slaveId, peer.refusal, 0)
                .welcomeLimits(Long.MAX_VALUE / 2, 1, context.ack);
        return outbox.send(record, peer.connection) != Transport.BACK_PRESSURED;
    }

    /** Sends what clients are owed; a client that cannot take more now comes again. */
    int tellClients() {
        int work = 0;
        for (int i = Math.min(toTell.size(), TELL_LIMIT); i > 0; i--) {
            ServedClient client = toTell.poll();
            client.isQueued = false;
            if (client.state == ServedClient.GONE || client.peer == null) {
                continue;
            }
            int sent = tell(client);
            work += sent;
            if (client.hasNews()) {
                hasNews(client);
            }
        }
        return work;
    }

    private int tell(ServedClient client) {
        int work = 0;
        while (client.hasNews() && client.peer != null && client.peer.isConnected) {
            if (client.isWelcomePending) {
                if (!welcome(client)) {
                    break;
                }
            } else if (client.doneCount > 0) {
                int at = client.doneHead;
                if (!done(
                        client,
                        client.doneSequence[at],
                        ControlFlyweight.STATE_TRANSFERRED,
                        client.doneResult[at],
                        client.doneCredits[at])) {
                    break;
                }
                client.removeDone();
                client.outstandingHeaders--;
            } else if (client.earlyCredits > 0 || client.isSeenPending) {
                if (!credit(client)) {
                    break;
                }
            } else {
                long upTo = client.streamedUpTo;
                if (!done(client, upTo, ControlFlyweight.STATE_STREAMED, 0, 0)) {
                    break;
                }
                client.streamedSent = upTo;
            }
            work++;
        }
        return work;
    }

    private boolean welcome(ServedClient client) {
        int receiver = shared.receiverState;
        if (receiver == ServerShared.RECEIVER_UNKNOWN) {
            return false;
        }
        int result =
                receiver == ServerShared.RECEIVER_CONNECTED
                        ? ControlFlyweight.RESULT_OK
                        : ControlFlyweight.RESULT_RECEIVER_UNREACHABLE;
        ControlFlyweight record = outbox.begin(ControlFlyweight.WELCOME, shared.job);
        if (record == null) {
            return false;
        }
        record.welcome(client.id, shared.serverId, result, client.creditsGranted)
                .welcomeLimits(Long.MAX_VALUE / 2, client.lastSequence + 1, context.ack);
        if (outbox.send(record, client.peer.connection) != Transport.ACCEPTED) {
            return false;
        }
        client.isWelcomePending = false;
        if (result == ControlFlyweight.RESULT_OK) {
            client.state = ServedClient.ACTIVE;
        } else {
            client.isLeaving = true;
        }
        return true;
    }

    private boolean done(ServedClient client, long sequence, int state, int result, int credits) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.DONE, shared.job);
        return record != null
                && outbox.send(
                                record.done(client.id, sequence, state, result, credits),
                                client.peer.connection)
                        == Transport.ACCEPTED;
    }

    private boolean credit(ServedClient client) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.CREDIT, shared.job);
        if (record == null
                || outbox.send(
                                record.credit(client.id, client.lastSequence, client.earlyCredits),
                                client.peer.connection)
                        != Transport.ACCEPTED) {
            return false;
        }
        client.earlyCredits = 0;
        client.isSeenPending = false;
        return true;
    }

    /** Tells every client once; true when all were told. */
    boolean sayGoodbye() {
        isReady = false;
        if (!toTell.isEmpty()) {
            return false;
        }
        for (ServedClient client : slots) {
            if (client != null
                    && client.state != ServedClient.GONE
                    && client.peer.isConnected
                    && !client.hasBeenToldGoodbye) {
                ControlFlyweight record = outbox.begin(ControlFlyweight.GOODBYE, shared.job);
                if (record == null) {
                    return false;
                }
                record.goodbye(client.id, client.lastSequence, ControlFlyweight.RESULT_STOPPING);
                int answer = outbox.send(record, client.peer.connection);
                if (answer == Transport.BACK_PRESSURED) {
                    return false;
                }
                client.hasBeenToldGoodbye = true;
            }
        }
        return true;
    }

    private void report(String what) {
        environment
                .errorHandler()
                .onError(new DartException(DartException.Code.SERVER_UNREACHABLE, what));
    }

    @Override
    public void close() {
        isReady = false;
        if (file != null) {
            if (file.isPublished()) {
                file.withdraw(published);
            }
            file.close();
        }
        if (link != null) {
            link.close();
        }
    }
}
