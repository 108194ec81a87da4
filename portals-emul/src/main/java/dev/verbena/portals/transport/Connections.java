package dev.verbena.portals.transport;

import static dev.verbena.portals.transport.PortalsConnection.CONNECTED;
import static dev.verbena.portals.transport.PortalsConnection.CONNECTING;
import static dev.verbena.portals.transport.PortalsConnection.OFFERED;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.portals.PeerState;
import dev.verbena.portals.PortalsEventFlyweight;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.portals.PortalsProcess;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.internal.ConnectionLife;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * How connections come about and end: the conversation over the system queue, timeouts, and the
 * watch over peers. One thread.
 */
final class Connections extends ConnectionLife<PortalsConnection> {
    private static final long RETRY_NS = 500_000L;
    private static final long WATCH_MIN_NS = 5_000_000L;
    private static final long WATCH_MAX_NS = 200_000_000L;

    private final Card card;
    private final EventRing ring;
    private final TransportContext context;
    private final ConnectionTable table;
    private final CreditReturns credits;
    private final ControlInbox records;
    private final PeerWatch watch;
    private final long watchNs;
    private int creditsReserved;
    private long nextWatchNs;
    private long nextTimerNs;

    Connections(Card card, EventRing ring, TransportContext context, long nowNs) {
        this(card, ring, context, nowNs, new ConnectionTable(context.connectionsMax()));
    }

    private Connections(
            Card card,
            EventRing ring,
            TransportContext context,
            long nowNs,
            ConnectionTable table) {
        super(table);
        this.card = card;
        this.ring = ring;
        this.context = context;
        this.table = table;
        this.credits = new CreditReturns(card, context, table, this);
        this.records = new ControlInbox(card, ring, context, this, credits);
        this.watch = new PeerWatch(card, context, this);
        this.watchNs = Math.max(WATCH_MIN_NS, Math.min(WATCH_MAX_NS, context.peerTimeoutNs() / 4));
        this.nextWatchNs = nowNs + watchNs;
        this.nextTimerNs = nextWatchNs;
    }

    CreditReturns credits() {
        return credits;
    }

    ControlInbox records() {
        return records;
    }

    PortalsConnection find(long handle) {
        return table.find(handle);
    }

    // ---- what the user asks for ----

    long connect(
            PortalsAddress peer, URI uri, byte[] privateData, long userContext, long deadlineNs) {
        PortalsConnection c = take();
        if (c == null) {
            return Transport.BACK_PRESSURED;
        }
        c.state = CONNECTING;
        c.context = userContext;
        c.uri = uri;
        c.privateData = privateData;
        c.deadlineNs = deadlineNs;
        c.hasDeadline = true;
        nextTimerNs = Deadlines.earlier(nextTimerNs, deadlineNs);
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
        int state = card.ni.peerState(target);
        long found = card.ni.peerIncarnation();
        if (state == PeerState.DEAD) {
            fail(
                    c,
                    peer.incarnation() == 0 ? Status.NOT_LISTENING : Status.REFUSED,
                    "there is no process " + peer.process() + " in this job");
        } else if (peer.incarnation() != 0 && peer.incarnation() != found) {
            fail(
                    c,
                    Status.REFUSED,
                    c.uri + " is gone; process " + peer.process() + " is another incarnation");
        } else {
            bind(c, target, found);
            pend(c, ControlRecord.CONNECT);
        }
    }

    /** Tells every peer that this transport closes, as far as they can be told at once. */
    void closeAll() {
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection c = table.at(i);
            if (c.state == CONNECTED && c.pendingRecord == 0) {
                c.pendingRecord = ControlRecord.DISCONNECT;
                send(c);
            } else if (c.state == OFFERED) {
                c.pendingRecord = ControlRecord.REJECT;
                send(c);
            } else if (c.pendingRecord != 0 && c.pendingRecord != ControlRecord.CONNECT) {
                send(c);
            }
        }
    }

    // ---- slots ----

    private PortalsConnection take() {
        if (creditsReserved + context.creditsPerConnection() > context.receiveSlotCount()) {
            return null;
        }
        PortalsConnection c = table.take();
        if (c != null) {
            c.creditsGiven = context.creditsPerConnection();
            creditsReserved += c.creditsGiven;
        }
        return c;
    }

    @Override
    protected void free(PortalsConnection c) {
        creditsReserved -= c.creditsGiven;
        long target = c.target;
        unpend(c);
        table.free(c);
        if (target != 0 && !table.isUsed(target) && target != card.ni.id().target()) {
            card.ni.pinPeer(target, 0);
            card.ni.forgetPeer(target);
        }
    }

    /** From now on everything for this connection goes to one incarnation only. */
    private void bind(PortalsConnection c, long target, long incarnation) {
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection other = table.at(i);
            if (other.target == target
                    && other.peerIncarnation != incarnation
                    && other.state != PortalsConnection.FREE) {
                lose(other, "its process was replaced by another incarnation");
            }
        }
        c.target = target;
        c.peerIncarnation = incarnation;
        card.ni.pinPeer(target, incarnation);
    }

    // ---- records out ----

    @Override
    protected void send(PortalsConnection c) {
        int type = c.pendingRecord;
        card.record.write(
                type,
                c.peerHandle,
                c.handle,
                c.creditsGiven,
                context.messageLengthMax(),
                type == ControlRecord.CONNECT ? c.privateData : null);
        boolean isRequest = type == ControlRecord.CONNECT;
        int outcome = card.putRecord(c.target, isRequest ? Card.REQUEST_BITS : Card.ANSWER_BITS);
        if (outcome == PortalsOutcome.DELIVERED) {
            if (PlantedFaults.ENABLED) {
                PlantedFaults.step("java.portals.record");
            }
            sent(c, type);
        } else if (Card.isPeerGone(outcome)) {
            gone(c);
        } else if (outcome == PortalsOutcome.DROPPED && isRequest && !card.isListening(c.target)) {
            unpend(c);
            fail(c, Status.NOT_LISTENING, c.uri + " does not listen");
        } else {
            nextTimerNs = nextWatchNs - watchNs; // as soon as possible
        }
    }

    private void answer(long target, int type, int to) {
        card.record.write(type, to, 0, 0, 0, null);
        card.putRecord(target, Card.ANSWER_BITS);
        if (!table.isUsed(target) && target != card.ni.id().target()) {
            card.ni.forgetPeer(target);
        }
    }

    // ---- records in ----

    /** Whether the peer has room for one more; looks for returned credits if not. */
    boolean hasCredit(PortalsConnection c) {
        if (c.credits() <= 0) {
            records.take();
        }
        return c.credits() > 0 && c.state == CONNECTED;
    }

    /** A peer asks to connect. */
    void offer(ControlRecord record, PortalsEventFlyweight from) {
        long target = from.process();
        PortalsConnection c = take();
        if (c == null) {
            answer(target, ControlRecord.FULL, record.from());
            return;
        }
        PortalsAddress peer =
                new PortalsAddress(context.job(), PortalsProcess.of(target), from.incarnation());
        bind(c, target, from.incarnation());
        c.state = OFFERED;
        c.uri = peer.uri();
        c.peerHandle = record.from();
        agree(c, record);
        byte[] privateData = record.privateData();
        int handle = c.handle;
        URI uri = c.uri;
        ring.add(
                handler ->
                        handler.onConnectRequest(
                                handle, uri, new UnsafeBuffer(privateData), 0, privateData.length));
    }

    private void agree(PortalsConnection c, ControlRecord record) {
        c.creditsGranted = record.credits();
        c.messageLengthMax = Math.min(context.messageLengthMax(), record.messageLengthMax());
    }

    /** A peer answered a connect, or disconnects. */
    void onAnswer(ControlRecord record, PortalsEventFlyweight from) {
        PortalsConnection c = table.find(record.to());
        if (c != null && !c.isFrom(from)) {
            c = null;
        }
        switch (record.type()) {
            case ControlRecord.ACCEPT -> {
                if (c != null && c.state == CONNECTING) {
                    c.peerHandle = record.from();
                    agree(c, record);
                    connected(c);
                } else if (c == null || c.state != CONNECTED) {
                    // We gave up meanwhile: the peer must not believe in the connection.
                    answer(from.process(), ControlRecord.DISCONNECT, record.from());
                }
            }
            case ControlRecord.REJECT, ControlRecord.FULL -> {
                if (c != null && c.state == CONNECTING) {
                    fail(
                            c,
                            Status.REFUSED,
                            record.type() == ControlRecord.FULL
                                    ? c.uri + " has no room for another connection"
                                    : c.uri + " rejected the connection");
                }
            }
            case ControlRecord.DISCONNECT -> {
                if (c != null && c.state == CONNECTED) {
                    end(c, false, null);
                } else if (c != null && c.state == OFFERED) {
                    free(c);
                } else if (c != null && c.isQuietEnd) {
                    free(c); // both at once: the peer does not wait for ours
                }
            }
            default -> records.refuse("type " + record.type(), from);
        }
    }

    // ---- ends ----

    @Override
    protected void tell(Consumer<TransportHandler> event) {
        ring.add(event::accept);
    }

    @Override
    protected void takeRecords() {
        records.take();
    }

    @Override
    protected void onEnding(PortalsConnection c) {
        // What it sent before has been logged: it is delivered first.
        c.messageMark = card.messageQueue.tail();
        c.notifyMark = card.notifyQueue.tail();
    }

    /** Ends connections whose last message was delivered, unless messages are being recovered. */
    void settleEnds(boolean isRecovering) {
        if (!isRecovering) {
            settleEnds();
        }
    }

    @Override
    protected boolean isDelivered(PortalsConnection c) {
        return card.messageQueue.head() - c.messageMark >= 0
                && card.notifyQueue.head() - c.notifyMark >= 0;
    }

    // ---- time ----

    /** When {@link #onTime} wants to be called at the latest. */
    long nextTimerNs() {
        return nextTimerNs;
    }

    /** Timeouts, records that could not be sent, and the watch over peers. */
    void onTime(long nowNs) {
        if (nowNs - nextTimerNs < 0) {
            return;
        }
        boolean isWatching = nowNs - nextWatchNs >= 0;
        if (isWatching) {
            nextWatchNs = nowNs + watchNs;
            card.bell(); // throws if our memory was cut
            card.ni.reap();
        }
        nextTimerNs = nextWatchNs;
        for (int i = 0; i < table.size(); i++) {
            PortalsConnection c = table.at(i);
            if (c.state == PortalsConnection.FREE) {
                continue;
            }
            if (c.pendingRecord != 0) {
                send(c);
            }
            if (c.state == CONNECTING && c.hasDeadline) {
                expire(c, nowNs);
            }
            if (isWatching) {
                watch.look(c, nowNs);
            }
        }
        if (pendingCount() > 0) {
            nextTimerNs = Deadlines.earlier(nextTimerNs, nowNs + RETRY_NS);
        }
    }

    private void expire(PortalsConnection c, long nowNs) {
        if (c.deadlineNs - nowNs <= 0) {
            fail(c, Status.TIMED_OUT, c.uri + " did not answer in time");
        } else {
            nextTimerNs = Deadlines.earlier(nextTimerNs, c.deadlineNs);
        }
    }
}
