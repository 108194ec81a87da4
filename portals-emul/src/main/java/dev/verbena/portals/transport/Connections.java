package dev.verbena.portals.transport;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.portals.PeerState;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.HandleTable;
import dev.verbena.transport.core.RecordConnections;
import java.net.URI;

/** How connections come about and end: records go to peers' system queues. One thread. */
final class Connections extends RecordConnections<PortalsConnection> {
    private final PortalsResources resources;
    private final ControlInbox records;

    /** The last one that peers were asked after a loss of events: even; its answer is one more. */
    private int question;

    Connections(PortalsResources resources, EventRing ring, TransportContext context, long nowNs) {
        super(
                new HandleTable<>(
                        new PortalsConnection[context.connectionsMax()], PortalsConnection::new),
                ring,
                context,
                nowNs);
        this.resources = resources;
        this.records = new ControlInbox(resources, ring, context, this);
    }

    ControlInbox records() {
        return records;
    }

    // ---- what the user asks for ----

    long connect(
            PortalsAddress peer, URI uri, byte[] privateData, long userContext, long deadlineNs) {
        PortalsConnection c = begin(uri, privateData, userContext, deadlineNs);
        if (c == null) {
            return Transport.BACK_PRESSURED;
        }
        int handle = c.handle;
        if (!peer.job().equals(context.job())) {
            fail(
                    c,
                    Status.REFUSED,
                    uri + " is of job '" + peer.job() + "', this is job '" + context.job() + "'");
        } else if (peer.process() == null) {
            fail(c, Status.REFUSED, uri + " names no process: the form is nid.pid");
        } else {
            seek(c, peer);
        }
        return handle;
    }

    private void seek(PortalsConnection c, PortalsAddress peer) {
        long target = peer.process().target();
        int state = resources.ni.peerState(target);
        long found = state == PeerState.DEAD ? 0 : resources.ni.peerIncarnation();
        if (isThere(c, peer.incarnation(), found, "process " + peer.process())) {
            bind(c, target, found);
            pend(c, CONNECT);
        }
    }

    @Override
    protected void onBound(PortalsConnection c) {
        resources.ni.pinPeer(c.peerProcess, c.peerIncarnation);
    }

    @Override
    protected void release(PortalsConnection c) {
        // A connection holds nothing but its slot.
    }

    @Override
    protected void onUnused(long process) {
        if (process != resources.ni.id().target()) {
            resources.ni.pinPeer(process, 0);
            resources.ni.forgetPeer(process);
        }
    }

    // ---- records out ----

    @Override
    protected int trySend(PortalsConnection c, int record) {
        int outcome = put(c, record);
        if (outcome == PortalsOutcome.DELIVERED) {
            if (KillSteps.ENABLED) {
                KillSteps.step("java.portals.record");
            }
            return DELIVERED;
        }
        if (PortalsResources.isPeerGone(outcome)) {
            return GONE;
        }
        boolean isDropped = outcome == PortalsOutcome.DROPPED && record == CONNECT;
        if (isDropped && !resources.isListening(c.peerProcess)) {
            fail(c, Status.NOT_LISTENING, c.uri + " does not listen");
            return FAILED;
        }
        return LATER;
    }

    @Override
    protected void post(PortalsConnection c, int record) {
        put(c, record);
    }

    private int put(PortalsConnection c, int record) {
        boolean isRequest = record == CONNECT;
        resources.record.write(
                record,
                c.peerHandle,
                c.handle,
                context.creditsPerConnection(),
                context.messageLengthMax(),
                isRequest ? c.privateData : null);
        return resources.putRecord(
                c.peerProcess,
                isRequest ? PortalsResources.REQUEST_BITS : PortalsResources.ANSWER_BITS);
    }

    private void answer(long target, int type, int to) {
        resources.record.write(type, to, 0, 0, 0, null);
        resources.putRecord(target, PortalsResources.ANSWER_BITS);
        if (!isUsed(target) && target != resources.ni.id().target()) {
            resources.ni.forgetPeer(target);
        }
    }

    // ---- credits ----

    /** Whether the peer has room for one more; looks for returned credits if not. */
    boolean hasCredit(PortalsConnection c) {
        if (!c.hasCredit()) {
            records.take();
        }
        return c.hasCredit() && c.state == PortalsConnection.CONNECTED;
    }

    /** The peer says how many messages it has taken. */
    void taken(PortalsConnection c, int taken) {
        if (!c.onTaken(taken)) {
            report(c + ": the peer returned credits that it did not have");
        }
    }

    /** The peer returns credits, and may ask or answer. */
    void onCredits(PortalsConnection c, long bits) {
        taken(c, MessageHeader.taken(bits));
        int number = MessageHeader.number(bits);
        if (number == c.question() + 1) {
            c.ask(0);
        } else if (number != 0 && number % 2 == 0 && c.state == PortalsConnection.CONNECTED) {
            putCredits(c, number + 1);
        }
    }

    /**
     * Events were lost, and with them perhaps credits. Who has sent what the peer has not returned
     * asks for the peer's count as soon as it has no credit left, until an answer comes: of
     * messages that it retains, or while others keep it busy, a peer tells nothing by itself.
     */
    void onLoss() {
        question = question % MessageHeader.QUESTION_MAX + 2;
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection c = at(i);
            if (c.state == PortalsConnection.CONNECTED && c.sentCount > c.takenByPeer) {
                c.ask(question);
            }
            if (lacksCredit(c)) {
                putCredits(c, question);
            }
        }
    }

    private static boolean lacksCredit(PortalsConnection c) {
        return c.state == PortalsConnection.CONNECTED && !c.hasCredit();
    }

    private int putCredits(PortalsConnection c, int number) {
        long bits = MessageHeader.bits(c.peerHandle, (int) c.takenCount, number);
        return resources.putCredits(c.peerProcess, bits);
    }

    @Override
    protected int returnCredits(PortalsConnection c) {
        int outcome = putCredits(c, 0);
        if (outcome == PortalsOutcome.DELIVERED) {
            if (KillSteps.ENABLED) {
                KillSteps.step("java.portals.credits");
            }
            return DELIVERED;
        }
        return PortalsResources.isPeerGone(outcome) ? GONE : LATER;
    }

    // ---- records in ----

    /** A peer asks to connect. */
    void offer(ControlRecord record, PortalsEventFlyweight from) {
        long target = from.process();
        PortalsAddress peer =
                new PortalsAddress(context.job(), PortalsProcess.of(target), from.incarnation());
        PortalsConnection c = offer(peer.uri(), target, from.incarnation());
        if (c == null) {
            answer(target, FULL, record.from());
        } else {
            agree(c, record);
            tellOffer(c, record.privateData());
        }
    }

    private void agree(PortalsConnection c, ControlRecord record) {
        c.agree(
                record.from(),
                record.credits(),
                context.creditsPerConnection(),
                Math.min(context.messageLengthMax(), record.messageLengthMax()));
    }

    /**
     * A peer answered a connect, or disconnects.
     *
     * @param from null if the event was lost: the record's handle has to do
     */
    void onAnswer(ControlRecord record, PortalsEventFlyweight from) {
        PortalsConnection c =
                from == null
                        ? find(record.to())
                        : find(record.to(), from.process(), from.incarnation());
        switch (record.type()) {
            case ACCEPT -> {
                if (c != null && c.state == PortalsConnection.CONNECTING) {
                    agree(c, record);
                    connected(c);
                } else if (from != null && (c == null || c.state != PortalsConnection.CONNECTED)) {
                    // We gave up meanwhile: the peer must not believe in the connection. Where the
                    // event was lost nobody knows whom to tell, and the peer keeps a useless one.
                    answer(from.process(), DISCONNECT, record.from());
                }
            }
            case REJECT -> onRefused(c, Status.REFUSED, " rejected the connection");
            case FULL -> onRefused(c, Status.REFUSED, " has no room for another connection");
            case DISCONNECT -> onDisconnect(c);
            default -> records.refuse("type " + record.type(), from);
        }
    }

    @Override
    protected void takeRecords() {
        records.take();
    }

    // ---- ends and time ----

    @Override
    protected void onEnding(PortalsConnection c) {
        // What it sent before has been logged: it is delivered first.
        c.markEnd(resources.messageQueue.tail(), resources.notifyQueue.tail());
    }

    @Override
    protected boolean isDelivered(PortalsConnection c) {
        return c.isRead(resources.messageQueue.head(), resources.notifyQueue.head());
    }

    @Override
    protected void onWatch(long nowNs) {
        resources.bell(); // throws if our memory was cut
        resources.ni.reap();
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection c = at(i);
            if (c.question() != 0 && lacksCredit(c)) {
                putCredits(c, c.question());
            }
        }
    }

    @Override
    protected int peerState(PortalsConnection c) {
        int state = resources.ni.peerState(c.peerProcess);
        if (state == PeerState.DEAD || resources.ni.peerIncarnation() != c.peerIncarnation) {
            return DEAD;
        }
        return state == PeerState.STOPPED ? STOPPED : RUNNING;
    }
}
