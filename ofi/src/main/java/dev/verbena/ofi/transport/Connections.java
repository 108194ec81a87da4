package dev.verbena.ofi.transport;

import dev.verbena.ofi.OfiException;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.HandleTable;
import dev.verbena.transport.core.ReadyList;
import dev.verbena.transport.core.RecordConnections;
import java.net.URI;
import java.net.UnknownHostException;
import org.agrona.collections.IntHashSet;
import org.agrona.concurrent.SystemNanoClock;

/**
 * How connections come about and end, and when a peer counts as lost. What peers say is in {@link
 * Records}. One thread.
 */
final class Connections extends RecordConnections<OfiConnection> implements Regions.Revoker {
    private static final int SILENT_PERIODS = 3;

    /** A close of a region waits so long for peers to answer. */
    private static final long QUIET_NS = 100_000_000L;

    /** What a network does that drops long packets without a word: short ones arrive before. */
    private static final String SWALLOWED =
            ", or the network swallows long packets: check the MTU of both hosts and of everything"
                    + " between them";

    private final OfiResources resources;
    private final ReadyList ready;
    private final Peers peers;
    private final Controls controls;
    private final Outbox outbox;
    private final Slots slots;
    private final Engine engine;
    private final Regions regions;
    private final Heartbeats heartbeats;
    private final Answers answers;
    private final Departures departures;
    private final long silentNs;
    private long watchNs;
    private boolean isListening;

    Connections(Parts parts, TransportContext context, long nowNs) {
        super(
                new HandleTable<>(new OfiConnection[context.connectionsMax()], OfiConnection::new),
                parts.ring,
                context,
                nowNs);
        this.resources = parts.resources;
        this.ready = parts.ready;
        this.peers = parts.peers;
        this.controls = parts.controls;
        this.outbox = parts.outbox;
        this.slots = parts.slots;
        this.engine = parts.engine;
        this.regions = parts.regions;
        this.heartbeats = parts.heartbeats;
        this.answers = new Answers(controls);
        this.departures = new Departures(peers, regions::onEnded);
        this.silentNs = SILENT_PERIODS * Heartbeats.period(context.peerTimeoutNs());
        this.watchNs = nowNs;
        regions.revoker(this);
    }

    void listen() {
        isListening = true;
    }

    boolean isListening() {
        return isListening;
    }

    /** Hash of the job, which both ends must share. */
    long job() {
        return controls.job();
    }

    EventRing ring() {
        return ring;
    }

    // ---- what the user asks for ----

    long connect(OfiAddress to, URI uri, byte[] privateData, long userContext, long deadlineNs) {
        OfiConnection c = begin(uri, privateData, userContext, deadlineNs);
        if (c == null) {
            return Transport.BACK_PRESSURED;
        }
        int handle = c.handle;
        String own = OfiResources.shortName(resources.info.provider());
        if (!to.provider().isEmpty() && !to.provider().equals(own)) {
            fail(c, Status.REFUSED, uri + ": this transport is of the provider " + own);
            return handle;
        }
        try {
            byte[] name = to.endpointName();
            if (resources.hasSocketAddresses() && name.length != resources.name.length) {
                String lengths = "the name has %s bytes, those of its endpoints have %s";
                refuse(c, own, lengths.formatted(name.length, resources.name.length));
                return handle;
            }
            OfiPeer peer = peers.of(name);
            c.seek(peer, to.incarnation());
            peers.forget(peer);
            pend(c, CONNECT);
        } catch (UnknownHostException e) {
            fail(c, Status.NOT_LISTENING, uri + ": host " + to.host() + " has no address");
        } catch (OfiException e) {
            refuse(c, own, e.getMessage());
        }
        return handle;
    }

    private void refuse(OfiConnection c, String provider, String why) {
        fail(c, Status.REFUSED, c.uri + " is no address of provider " + provider + ": " + why);
    }

    // ---- records out ----

    @Override
    protected int trySend(OfiConnection c, int record) {
        if (record == CONNECT && !isReachable(c)) {
            return c.state == OfiConnection.CONNECTING ? LATER : FAILED;
        }
        if (record == DISCONNECT && c.inFlight() > 0) {
            return LATER; // what was accepted before is placed before
        }
        if (c.peer.isGone) {
            return GONE;
        }
        boolean asks = record == DISCONNECT && regions.isKnownTo(c.handle);
        return switch (put(c, record, record == DISCONNECT && !asks ? 0 : c.handle)) {
            case Controls.SENT -> {
                if (asks) {
                    c.askedForAnswer();
                }
                yield DELIVERED;
            }
            case Controls.LATER -> LATER;
            default -> record == CONNECT ? unreachable(c) : GONE;
        };
    }

    private int unreachable(OfiConnection c) {
        fail(c, Status.PEER_DEAD, c.uri + " cannot be reached" + whyNoAnswer());
        return FAILED;
    }

    @Override
    protected String whyNoAnswer() {
        return "; a firewall may swallow what goes to its port (the option ofi.port there fixes"
                + " one), or its interface is of another network (ofi.host there chooses it)";
    }

    /** Whether somebody is at the peer's address; the attempt fails if nobody is. */
    private boolean isReachable(OfiConnection c) {
        if (c.isProbed) {
            return true;
        }
        if (!peers.look(c.peer)) {
            return false;
        }
        c.probed();
        return !c.peer.isGone || isThere(c, c.wanted, 0, "the endpoint");
    }

    @Override
    protected void post(OfiConnection c, int record) {
        if (c.peer != null) {
            put(c, record, record == DISCONNECT ? lastWord(c) : c.handle);
        }
    }

    private static int lastWord(OfiConnection c) {
        return c.isLost || c.inFlight() > 0 ? ControlRecord.GIVEN_UP : 0;
    }

    /**
     * Sends a record about a connection.
     *
     * @param from of a DISCONNECT: above 0 if the peer is to answer by one; 0 if nothing of ours is
     *     under way; or {@link ControlRecord#GIVEN_UP}
     */
    private int put(OfiConnection c, int type, int from) {
        return controls.send(
                c.peer,
                type,
                c.peerHandle,
                from,
                context.creditsPerConnection(),
                context.messageLengthMax(),
                type == CONNECT ? c.privateData : null,
                c.wanted);
    }

    /** Answers a record that belongs to no connection. */
    void answer(OfiPeer peer, ControlRecord to, int type) {
        answers.send(peer, type, to.from(), 0);
    }

    /** The request has arrived, and these two agree. */
    void seen(OfiConnection c) {
        put(c, ControlRecord.SEEN, c.handle);
    }

    @Override
    protected void takeRecords() {
        engine.takeEvents();
    }

    // ---- what holds while a connection is bound ----

    void bindTo(OfiConnection c, OfiPeer peer, ControlRecord record) {
        if (c.peerProcess == 0) {
            bind(c, peer.number, record.incarnation());
        }
    }

    void agree(OfiConnection c, ControlRecord record) {
        int longest = Math.min(context.messageLengthMax(), record.messageLengthMax());
        c.agree(record.from(), record.credits(), context.creditsPerConnection(), longest);
        heartbeats.bear(record.silenceNs());
    }

    @Override
    protected void onBound(OfiConnection c) {
        OfiPeer peer = peers.at(c.peerProcess);
        c.join(peer);
        peer.use();
        peer.greet(SystemNanoClock.INSTANCE.nanoTime());
        heartbeats.peers(peers.inUse());
    }

    @Override
    protected void release(OfiConnection c) {
        if (isAnswerDue(c)) {
            answers.send(c.peer, DISCONNECT, c.peerHandle, 0);
        }
        engine.failAll(c, Status.PEER_DEAD);
        slots.drop(c);
        if (!(c.isLost || c.hasPeerGivenUp || c.isQuietEnd && !c.isPeerDone)) {
            regions.onEnded(c.handle);
        } else if (regions.isKnownTo(c.handle)) {
            departures.add(c);
        }
        if (c.peerProcess != 0) {
            c.peer.unuse();
            heartbeats.peers(peers.inUse());
        }
        if (c.peer != null && c.peer.users == 0) {
            peers.forget(c.peer); // nobody looks for it any more
        }
    }

    private static boolean isAnswerDue(OfiConnection c) {
        return c.isAnswerDue && !c.isLost && c.inFlight() == 0;
    }

    /** The peer tells of the end of a connection that has ended here: it begins nothing by it. */
    void onLeft(int connection, OfiPeer peer, long incarnation, boolean isGivenUp) {
        departures.onLeft(connection, peer, incarnation, isGivenUp);
    }

    /** This transport closes: tells every peer, as far as they can be told at once. */
    void leave() {
        closeAll();
        for (int i = 0; i < table.size(); i++) {
            OfiConnection c = table.at(i);
            if (isAnswerDue(c)) {
                post(c, DISCONNECT);
            }
        }
    }

    // ---- credits, keys ----

    @Override
    protected int returnCredits(OfiConnection c) {
        outbox.begin(c, Wire.CREDITS, 0, 0);
        return outbox.send(c, Wire.HEADER, false) ? DELIVERED : LATER;
    }

    /** The peer has taken so many messages of ours. */
    void onTaken(OfiConnection c, long taken) {
        if (taken > c.takenByPeer && !c.onTakenByPeer(taken)) {
            corrupt(c, "returned credits that it did not have");
        }
    }

    @Override
    public void revoke(int connection, long key) {
        OfiConnection c = find(connection);
        if (c != null) {
            outbox.begin(c, Wire.REVOKE, 0, 0);
            Wire.place(resources.scratch, OfiResources.RECORD_AT, key, 0, 0, 0);
            if (!outbox.send(c, Wire.SHORT, true)) {
                loseFull(c);
            }
        }
    }

    /** A record that the peer must get finds no room: the peer learns that if it ever goes on. */
    void loseFull(OfiConnection c) {
        OfiPeer peer = c.peer;
        int to = c.peerHandle;
        boolean isHeld = c.state == OfiConnection.CONNECTED || c.isQuietEnd;
        lose(c, "it takes nothing any more");
        if (isHeld) {
            answers.send(peer, DISCONNECT, to, ControlRecord.GIVEN_UP);
        }
    }

    @Override
    public void await(OfiRegion region) {
        long endNs = SystemNanoClock.INSTANCE.nanoTime() + QUIET_NS;
        while (isAwaited(region) && SystemNanoClock.INSTANCE.nanoTime() - endNs < 0) {
            engine.takeEvents();
        }
        region.users.forEachInt(this::awaitedInVain);
    }

    @Override
    public boolean mayAnswer(OfiRegion region) {
        engine.takeEvents(); // what has arrived counts
        return isAwaited(region);
    }

    private boolean isAwaited(OfiRegion region) {
        IntHashSet.IntIterator users = region.users.iterator();
        while (users.hasNext()) {
            int user = users.nextValue();
            OfiConnection c = find(user);
            if (c == null ? departures.mayAnswer(user) : !c.isLost && !c.isSilent) {
                return true;
            }
        }
        return false;
    }

    private void awaitedInVain(int connection) {
        OfiConnection c = find(connection);
        if (c != null) {
            c.silent(true);
        } else {
            departures.awaitedInVain(connection);
        }
    }

    // ---- ends ----

    @Override
    protected boolean isDelivered(OfiConnection c) {
        return c.firstSlot == OfiConnection.NONE && c.inFlight() == 0;
    }

    @Override
    protected void onConnected(OfiConnection c) {
        ready.add(c.index);
    }

    @Override
    protected void onEnding(OfiConnection c) {
        if (c.isLost) {
            engine.failAll(c, Status.PEER_DEAD);
        } else {
            engine.flush(c);
            c.endAt(SystemNanoClock.INSTANCE.nanoTime() + context.peerTimeoutNs());
        }
        ready.add(c.index);
    }

    /** The peer sent nonsense: that is reported, and the connection ends for both. */
    void corrupt(OfiConnection c, String what) {
        if (c.state == OfiConnection.CONNECTED) {
            report(c + ": the peer " + what);
            end(c, true, "the peer " + what);
            tellGivenUp(c);
        }
    }

    /** The way to the peer is broken: what was on it may be lost. */
    void onBroken(OfiConnection c, int code) {
        String text = fabric.vfi_error_text(code).getString();
        lose(c, "libfabric says: " + text + " (" + code + ")");
        tellGivenUp(c);
    }

    @Override
    protected String whySilent() {
        return "nothing has arrived from there for longer than the peer timeout. Its process was"
                + " stopped"
                + SWALLOWED;
    }

    @Override
    protected void tellSilent(OfiConnection c) {
        if (c.state == OfiConnection.ENDING) {
            post(c, ControlRecord.SILENT);
        }
    }

    /** The peer has given us up. */
    void onSilent(OfiConnection c) {
        lose(
                c,
                "nothing from here has arrived there for its peer timeout. This process was stopped"
                        + SWALLOWED);
    }

    // ---- time ----

    @Override
    protected void progress() {
        engine.takeEvents();
        answers.retry();
        if (!answers.isEmpty()) {
            soon();
        }
    }

    @Override
    protected void onWatch(long nowNs) {
        watchNs = nowNs;
        peers.tick(nowNs);
        resources.drainBeacon();
        departures.watch();
        for (int i = 0; i < table.size(); i++) {
            OfiConnection c = table.at(i);
            if (c.state == OfiConnection.ENDING && !c.isLost && c.endNs() - nowNs < 0) {
                engine.failAll(c, Status.PEER_DEAD);
                c.giveUp();
            }
        }
    }

    @Override
    protected int peerState(OfiConnection c) {
        OfiPeer peer = c.peer;
        if (peer.incarnation != c.peerIncarnation) {
            return DEAD;
        }
        if (watchNs - peer.heardNs < silentNs) {
            return RUNNING;
        }
        peers.look(peer);
        return peer.isGone ? DEAD : STOPPED;
    }
}
