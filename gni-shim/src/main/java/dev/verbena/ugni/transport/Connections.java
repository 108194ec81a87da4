package dev.verbena.ugni.transport;

import static dev.verbena.ugni.transport.GniConnection.CONNECTED;
import static dev.verbena.ugni.transport.GniConnection.CONNECTING;
import static dev.verbena.ugni.transport.GniConnection.ENDING;
import static dev.verbena.ugni.transport.GniConnection.FREE;
import static dev.verbena.ugni.transport.GniConnection.OFFERED;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.internal.ConnectionLife;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.concurrent.SystemNanoClock;

/**
 * How connections come about and end: what is asked for here, what is sent to peers' doors,
 * timeouts, and the watch over peers. What comes back is in {@link ControlInbox}. One thread.
 */
final class Connections extends ConnectionLife<GniConnection> {
    private static final long RETRY_NS = 500_000L;
    private static final long WATCH_MIN_NS = 5_000_000L;
    private static final long WATCH_MAX_NS = 200_000_000L;

    final ConnectionTable table;
    final Credits credits;

    /** What peers say. */
    final ControlInbox records;

    private final Card card;
    private final EventRing ring;
    private final News news;
    private final TransportContext context;
    private final Mailboxes mailboxes;
    private final Peers peers;
    private final Callers callers;
    private final PeerWatch watch;
    private final ControlRecord out = ControlRecord.allocate();
    private final long watchNs;
    private Runnable drain = () -> {};
    private boolean isListening;
    private int creditsReserved;
    private long nextWatchNs;
    private long nextTimerNs;

    Connections(Card card, EventRing ring, News news, TransportContext context, long nowNs) {
        super(news.table);
        this.card = card;
        this.ring = ring;
        this.news = news;
        this.context = context;
        this.table = news.table;
        this.mailboxes =
                new Mailboxes(card, context.creditsPerConnection(), context.messageLengthMax());
        this.credits = new Credits(mailboxes, table, this);
        this.peers = new Peers(card);
        this.callers = new Callers(card);
        this.records = new ControlInbox(card, ring, context, this, mailboxes, peers, callers);
        this.watch = new PeerWatch(card, context, this);
        this.watchNs = Math.max(WATCH_MIN_NS, Math.min(WATCH_MAX_NS, context.peerTimeoutNs() / 4));
        this.nextWatchNs = nowNs + watchNs;
        this.nextTimerNs = nextWatchNs;
        out.sender(card);
    }

    /** What takes the events of operations. */
    void drain(Runnable drain) {
        this.drain = drain;
    }

    void listen() {
        isListening = true;
    }

    boolean isListening() {
        return isListening;
    }

    // ---- what the user asks for ----

    long connect(GniAddress to, URI uri, byte[] privateData, long userContext, long deadlineNs) {
        GniConnection c = take();
        if (c == null) {
            return Transport.BACK_PRESSURED;
        }
        c.state = CONNECTING;
        c.context = userContext;
        c.uri = uri;
        c.wantedName = to.name();
        c.privateData = privateData;
        c.deadlineNs = deadlineNs;
        c.hasDeadline = true;
        nextTimerNs = Deadlines.earlier(nextTimerNs, deadlineNs);
        int handle = c.handle;
        String refusal = callers.refusal(to);
        if (refusal != null) {
            fail(c, Status.REFUSED, uri + refusal);
        } else {
            try {
                seek(c, to);
            } catch (GniFailure e) { // no registration is left, or no memory
                fail(c, Status.INTERNAL, uri + ": " + e.getMessage());
            }
        }
        return handle;
    }

    private void seek(GniConnection c, GniAddress to) {
        long found = peers.incarnationAt(card.address, to.port());
        if (found == 0) {
            fail(
                    c,
                    to.incarnation() == 0 ? Status.NOT_LISTENING : Status.REFUSED,
                    "nobody is at port " + to.port() + " of " + c.uri);
        } else if (to.incarnation() != 0 && to.incarnation() != found) {
            fail(
                    c,
                    Status.REFUSED,
                    c.uri + " is gone; at port " + to.port() + " is another incarnation");
        } else {
            bind(c, card.address, to.port(), found);
            mailboxes.open(c);
            pend(c, ControlRecord.CONNECT);
        }
    }

    /** Tells every peer that this transport closes, as far as they can be told at once. */
    void closeAll() {
        for (int i = 0; i < table.size(); i++) {
            GniConnection c = table.at(i);
            if (c.state == CONNECTED && c.pendingRecord == 0) {
                c.pendingRecord = ControlRecord.DISCONNECT;
            } else if (c.state == OFFERED) {
                c.pendingRecord = ControlRecord.REJECT;
            }
            if (c.pendingRecord != 0 && c.pendingRecord != ControlRecord.CONNECT) {
                put(c, c.pendingRecord);
            }
        }
    }

    // ---- slots ----

    GniConnection take() {
        int wanted = context.creditsPerConnection();
        if (creditsReserved + wanted > context.receiveSlotCount()) {
            return null;
        }
        GniConnection c = table.take();
        if (c != null) {
            c.creditsReserved = wanted;
            creditsReserved += wanted;
        }
        return c;
    }

    @Override
    protected void free(GniConnection c) {
        if (c.inFlight > 0) {
            drain.run(); // events of an endpoint that is gone would not come
        }
        creditsReserved -= c.creditsReserved;
        unpend(c);
        mailboxes.close(c);
        GniPeer peer = c.peer;
        table.free(c);
        if (peer != null) {
            peers.release(peer);
        }
    }

    /** From now on everything for this connection goes to one incarnation only. */
    void bind(GniConnection c, int address, int instance, long incarnation) {
        for (int i = 0; i < table.size(); i++) {
            GniConnection other = table.at(i);
            if (other.state != FREE
                    && other.peer != null
                    && other.peer.instance == instance
                    && other.peer.address == address
                    && other.peer.incarnation != incarnation) {
                lose(other, "its process was replaced by another incarnation");
            }
        }
        c.peer = peers.take(address, instance, incarnation);
    }

    // ---- records out ----

    @Override
    protected void send(GniConnection c) {
        int type = c.pendingRecord;
        if (!c.peer.isKnown()) {
            peers.ask(c.peer);
            soon();
            return;
        }
        if (isOtherName(c)) {
            unpend(c);
            fail(c, Status.REFUSED, c.uri + ": there is '" + c.peer.name + "'");
            return;
        }
        // What was accepted before a disconnect is placed before it.
        int outcome = type == ControlRecord.DISCONNECT && c.inFlight > 0 ? Door.BUSY : put(c, type);
        switch (outcome) {
            case Door.DELIVERED -> {
                if (PlantedFaults.ENABLED) {
                    PlantedFaults.step("java.gni.record");
                }
                sent(c, type);
            }
            case Door.UNREACHABLE -> gone(c);
            default -> soon();
        }
    }

    private void soon() {
        nextTimerNs = nextWatchNs - watchNs;
    }

    private static boolean isOtherName(GniConnection c) {
        return c.state == CONNECTING
                && !c.wantedName.isEmpty()
                && !c.wantedName.equals(c.peer.name);
    }

    private int put(GniConnection c, int type) {
        out.write(
                type,
                c.peerHandle,
                c.handle,
                context.creditsPerConnection(),
                context.messageLengthMax(),
                type == ControlRecord.CONNECT ? c.privateData : null);
        out.mailbox(c.mailbox, c.mailboxLow, c.mailboxHigh);
        out.seal();
        return card.door.put(c.peer, out);
    }

    void answer(ControlRecord to, int type) {
        GniPeer peer = peers.take(to.address(), to.instance(), to.incarnation());
        to.introduce(peer);
        out.write(type, to.from(), 0, 0, 0, null);
        out.seal();
        card.door.put(peer, out);
        peers.release(peer);
    }

    /** A peer that goes on after it was given up must learn that, unless its door is full. */
    void tellGivenUp(GniConnection c) {
        if (c.state == ENDING && c.peer.isKnown()) {
            put(c, ControlRecord.DISCONNECT);
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
    protected boolean isDelivered(GniConnection c) {
        return !c.hasNews && c.inFlight == 0;
    }

    @Override
    protected void onConnected(GniConnection c) {
        news.add(c);
    }

    @Override
    protected void onEnding(GniConnection c) {
        news.add(c); // what it sent before is delivered first
    }

    /** An operation found the peer unreachable: looks whether it is gone. */
    void suspect(GniConnection c) {
        watch.look(c, SystemNanoClock.INSTANCE.nanoTime());
    }

    /** The peer wrote nonsense: that is reported, and the connection ends for both. */
    void corrupt(GniConnection c, String what) {
        if (c.state != CONNECTED) {
            return; // its end is on its way
        }
        context.errorHandler().onError(new IllegalStateException(c + ": the peer " + what));
        end(c, true, "the peer " + what);
        tellGivenUp(c);
    }

    // ---- time ----

    /** When {@link #onTime} wants to be called at the latest. */
    long nextTimerNs() {
        return nextTimerNs;
    }

    /** Datagrams, timeouts, records that could not be sent, and the watch over peers. */
    void onTime(long nowNs) {
        peers.progress();
        if (nowNs - nextTimerNs < 0 && pendingCount() == 0) {
            return;
        }
        boolean isWatching = nowNs - nextWatchNs >= 0;
        if (isWatching) {
            nextWatchNs = nowNs + watchNs;
            card.bell(); // throws if our memory was cut
            card.door.sweep(nowNs, context.peerTimeoutNs());
        }
        nextTimerNs = nextWatchNs;
        for (int i = 0; i < table.size(); i++) {
            GniConnection c = table.at(i);
            if (c.state != FREE) {
                onTime(c, nowNs, isWatching);
            }
        }
        if (pendingCount() > 0) {
            nextTimerNs = Deadlines.earlier(nextTimerNs, nowNs + RETRY_NS);
        }
    }

    private void onTime(GniConnection c, long nowNs, boolean isWatching) {
        if (c.pendingRecord != 0) {
            send(c);
        }
        if (c.state == CONNECTING && c.hasDeadline) {
            if (c.deadlineNs - nowNs <= 0) {
                fail(c, Status.TIMED_OUT, c.uri + " did not answer in time");
            } else {
                nextTimerNs = Deadlines.earlier(nextTimerNs, c.deadlineNs);
            }
        }
        if (isWatching && c.state != FREE) {
            watch.look(c, nowNs);
        }
    }
}
