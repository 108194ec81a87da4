package dev.verbena.dart.server;

import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.stream.StreamOwner;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.DeliveredNumbers;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The clients of one server: their slots, what they are owed, the numbers of those who left. Owned
 * by t1.
 */
final class ServedClients {
    private static final int TELL_LIMIT = 64;

    /** Message numbers of a registration begin here times its generation, unless known better. */
    private static final int GENERATION_SHIFT = DeliveredNumbers.GENERATION_SHIFT;

    /** Where a client that left has ended. */
    private record Left(long lastSequence, int generation) {}

    private final ServerShared shared;
    private final ServerSettings settings;
    private final ControlOutbox outbox;
    private final Consumer<ServedClient> taken;
    private final Consumer<ServedClient> dropped;
    private final ServedClient[] slots;
    private final int[] generations;
    private final Int2ObjectHashMap<ServedClient> byId = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<Left> left = new Int2ObjectHashMap<>();
    private final ArrayDeque<ServedClient> toTell = new ArrayDeque<>();

    ServedClients(
            ServerShared shared,
            ControlOutbox outbox,
            Consumer<ServedClient> taken,
            Consumer<ServedClient> dropped) {
        this.shared = shared;
        this.settings = shared.settings;
        this.outbox = outbox;
        this.taken = taken;
        this.dropped = dropped;
        this.slots = new ServedClient[settings.clientsMax()];
        this.generations = new int[settings.clientsMax()];
    }

    /** The client of a slot, or null if that one has left. */
    ServedClient client(int slot, int generation) {
        ServedClient client = slots[slot];
        return client != null && client.generation == generation ? client : null;
    }

    ServedClient byId(int id) {
        return byId.get(id);
    }

    /** Takes a client on, in place of its predecessor; null if there is no room. */
    ServedClient add(ControlFlyweight forward) {
        ServedClient before = byId.get(forward.registration().assignedId());
        if (before != null) {
            leave(before);
        }
        int slot = freeSlot();
        if (slot < 0) {
            return null;
        }
        ServedClient client =
                new ServedClient(
                        forward.registration().assignedId(),
                        slot,
                        ++generations[slot],
                        forward.registration(),
                        settings.creditsPerClient(),
                        lastSequence(forward));
        slots[slot] = client;
        byId.put(client.id, client);
        shared.clients.lazySet(shared.clients.get() + 1);
        shared.events.registered(client.id, shared.serverId);
        return client;
    }

    /**
     * Numbers go on where the process' predecessor ended, as the receiver knows them. Where that
     * was at another server they begin higher than any that it can have used.
     */
    private long lastSequence(ControlFlyweight forward) {
        int generation = forward.registration().generation();
        Left before = left.get(forward.registration().assignedId());
        return before != null && before.generation + 1 >= generation
                ? before.lastSequence
                : (long) generation << GENERATION_SHIFT;
    }

    /** Every client whose slot is not free. */
    void forEach(Consumer<ServedClient> action) {
        for (ServedClient client : slots) {
            if (client != null) {
                action.accept(client);
            }
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

    void leave(ServedClient client) {
        if (client.state == ServedClient.GONE) {
            return;
        }
        client.gone();
        left.put(client.id, new Left(client.lastSequence, client.registration));
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
            client.queued(true);
            toTell.add(client);
        }
    }

    /** Sends what clients are owed; a client that cannot take more now comes again. */
    int tell() {
        int work = 0;
        for (int i = Math.min(toTell.size(), TELL_LIMIT); i > 0; i--) {
            ServedClient client = toTell.poll();
            client.queued(false);
            if (client.state == ServedClient.GONE || client.told() == null) {
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
        while (client.hasNews() && client.told() != null && client.told().isConnected) {
            if (!tellNext(client)) {
                break;
            }
            work++;
        }
        return work;
    }

    /** Tells one thing; false if that is not possible now. */
    private boolean tellNext(ServedClient client) {
        if (client.isWelcomePending) {
            return welcome(client);
        }
        if (client.doneCount > 0) {
            int at = client.doneHead;
            boolean isTold =
                    done(
                            client,
                            client.doneSequence[at],
                            ControlFlyweight.STATE_TRANSFERRED,
                            client.doneResult[at],
                            client.doneCredits[at]);
            if (isTold) {
                client.doneTold();
            }
            return isTold;
        }
        if (client.earlyCredits > 0 || client.isSeenPending) {
            return credit(client);
        }
        if (client.isHeartbeatPending) {
            return heartbeat(client);
        }
        if (!client.lost.isEmpty()) {
            return lost(client);
        }
        if (client.hasSpillNews()) {
            long spilled = client.spilledUpTo;
            boolean isSent = done(client, spilled, ControlFlyweight.STATE_SPILLED, 0, 0);
            if (isSent) {
                client.spilledTold(spilled);
            }
            return isSent;
        }
        long upTo = client.streamedUpTo;
        boolean isTold = done(client, upTo, ControlFlyweight.STATE_STREAMED, 0, 0);
        if (isTold) {
            client.streamedTold(upTo);
        }
        return isTold;
    }

    private boolean welcome(ServedClient client) {
        int receiver = shared.receiverState();
        boolean isServedAnyway =
                !settings.spillDirectory().isEmpty()
                        || client.applicationId == RegisterFlyweight.APPLICATION_MAX;
        if (receiver == StreamOwner.RECEIVER_UNKNOWN && !isServedAnyway) {
            return false;
        }
        int result =
                isServedAnyway || receiver == StreamOwner.RECEIVER_CONNECTED
                        ? ControlFlyweight.RESULT_OK
                        : ControlFlyweight.RESULT_RECEIVER_UNREACHABLE;
        ControlFlyweight record = outbox.begin(ControlFlyweight.WELCOME, shared.job);
        if (record == null) {
            return false;
        }
        record.welcome(client.id, shared.serverId, result, client.creditsGranted)
                .welcomeLimits(Long.MAX_VALUE / 2, client.lastSequence + 1, settings.ack())
                .heartbeatMs((int) (settings.heartbeatNs() / 1_000_000));
        if (outbox.send(record, client.told().connection) != Transport.ACCEPTED) {
            return false;
        }
        client.welcomed();
        if (result == ControlFlyweight.RESULT_OK) {
            if (client.state != ServedClient.ACTIVE) {
                taken.accept(client);
            }
            client.activate();
        } else {
            client.leave();
        }
        return true;
    }

    private boolean done(ServedClient client, long sequence, int state, int result, int credits) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.DONE, shared.job);
        return record != null
                && outbox.send(
                                record.done(client.id, sequence, state, result, credits),
                                client.told().connection)
                        == Transport.ACCEPTED;
    }

    /** Before anything that covers the message as confirmed. */
    private boolean lost(ServedClient client) {
        boolean isTold =
                done(
                        client,
                        client.lost.getLong(0),
                        ControlFlyweight.STATE_LOST,
                        client.lostResults.getInt(0),
                        0);
        if (isTold) {
            client.lostTold();
        }
        return isTold;
    }

    private boolean credit(ServedClient client) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.CREDIT, shared.job);
        if (record == null
                || outbox.send(
                                record.credit(client.id, client.lastSequence, client.earlyCredits),
                                client.told().connection)
                        != Transport.ACCEPTED) {
            return false;
        }
        client.creditTold();
        return true;
    }

    private boolean heartbeat(ServedClient client) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.HEARTBEAT, shared.job);
        if (record == null
                || outbox.send(
                                record.heartbeat(client.id).text(shared.trouble()),
                                client.told().connection)
                        != Transport.ACCEPTED) {
            return false;
        }
        client.heartbeatTold();
        return true;
    }

    /** Tells every client once that the server ends; true when all were told. */
    boolean sayGoodbye() {
        if (!toTell.isEmpty()) {
            return false;
        }
        for (ServedClient client : slots) {
            if (client != null && !isToldGoodbye(client)) {
                return false;
            }
        }
        return true;
    }

    private boolean isToldGoodbye(ServedClient client) {
        boolean isReached =
                client.state != ServedClient.GONE && client.peer != null && client.peer.isConnected;
        if (!isReached || client.hasBeenToldGoodbye) {
            return true;
        }
        ControlFlyweight record = outbox.begin(ControlFlyweight.GOODBYE, shared.job);
        if (record == null) {
            return false;
        }
        record.goodbye(client.id, client.lastSequence, ControlFlyweight.RESULT_STOPPING);
        if (outbox.send(record, client.told().connection) == Transport.BACK_PRESSURED) {
            return false;
        }
        client.goodbyeTold();
        return true;
    }
}
