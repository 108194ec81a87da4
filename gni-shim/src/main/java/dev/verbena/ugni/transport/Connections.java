package dev.verbena.ugni.transport;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.HandleTable;
import dev.verbena.transport.core.ReadyList;
import dev.verbena.transport.core.RecordConnections;
import dev.verbena.ugni.bindings.ugni;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;

/**
 * How connections come about and end: what is sent to peers' control mailboxes. What comes back is
 * in {@link ControlInbox}. One thread.
 */
final class Connections extends RecordConnections<GniConnection> {
    /** What peers say. */
    final ControlInbox records;

    private final GniResources resources;
    private final ReadyList ready;
    private final Mailboxes mailboxes;
    private final Peers peers;
    private final AddressResolver resolver;
    private final ControlRecord out = ControlRecord.allocate();
    private Runnable drain = () -> {};
    private boolean isListening;

    Connections(
            GniResources resources,
            EventRing ring,
            ReadyList ready,
            TransportContext context,
            long nowNs) {
        super(
                new HandleTable<>(new GniConnection[context.connectionsMax()], GniConnection::new),
                ring,
                context,
                nowNs);
        this.resources = resources;
        this.ready = ready;
        this.mailboxes =
                new Mailboxes(
                        resources, context.creditsPerConnection(), context.messageLengthMax());
        this.peers = new Peers(resources);
        this.resolver = new AddressResolver(resources);
        this.records = new ControlInbox(resources, ring, context, this, mailboxes, peers, resolver);
        out.sender(resources);
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
        GniConnection c = begin(uri, privateData, userContext, deadlineNs);
        if (c == null) {
            return Transport.BACK_PRESSURED;
        }
        c.want(to.name());
        int handle = c.handle;
        String refusal = resolver.refusal(to);
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
        long found = peers.incarnationAt(resources.address, to.port());
        if (isThere(c, to.incarnation(), found, "port " + to.port())) {
            bind(c, Peers.key(resources.address, to.port()), found);
            mailboxes.open(c);
            pend(c, CONNECT);
        }
    }

    @Override
    protected void onBound(GniConnection c) {
        int address = (int) (c.peerProcess >>> Integer.SIZE);
        c.join(peers.take(address, (int) c.peerProcess, c.peerIncarnation));
    }

    @Override
    protected void release(GniConnection c) {
        if (c.inFlight() > 0) {
            drain.run(); // events of an endpoint that is gone would not come
        }
        mailboxes.close(c);
        if (c.peer != null) {
            peers.release(c.peer);
        }
    }

    // ---- records out ----

    @Override
    protected int trySend(GniConnection c, int record) {
        if (!c.peer.isKnown()) {
            peers.ask(c.peer);
            return LATER;
        }
        if (isOtherName(c)) {
            fail(c, Status.REFUSED, c.uri + ": there is '" + c.peer.name + "'");
            return FAILED;
        }
        if (record == DISCONNECT && (c.inFlight() > 0 || c.isShowing())) {
            return LATER; // what was accepted before is placed before; the mailbox is looked at
        }
        int outcome = put(c, record);
        if (outcome == ControlMailbox.DELIVERED) {
            if (KillSteps.ENABLED) {
                KillSteps.step("java.gni.record");
            }
            return DELIVERED;
        }
        return outcome == ControlMailbox.UNREACHABLE ? GONE : LATER;
    }

    private static boolean isOtherName(GniConnection c) {
        return c.state == GniConnection.CONNECTING
                && !c.wantedName.isEmpty()
                && !c.wantedName.equals(c.peer.name);
    }

    @Override
    protected void post(GniConnection c, int record) {
        if (c.peer.isKnown()) {
            put(c, record);
        }
    }

    private int put(GniConnection c, int type) {
        out.write(
                type,
                c.peerHandle,
                c.handle,
                context.creditsPerConnection(),
                context.messageLengthMax(),
                type == CONNECT ? c.privateData : null);
        out.mailbox(c.mailbox, c.mailboxLow, c.mailboxHigh);
        out.seal();
        return resources.control.put(c.peer, out);
    }

    void answer(ControlRecord to, int type) {
        GniPeer peer = peers.take(to.address(), to.instance(), to.incarnation());
        to.introduce(peer);
        out.write(type, to.from(), 0, 0, 0, null);
        out.seal();
        resources.control.put(peer, out);
        peers.release(peer);
    }

    @Override
    protected void takeRecords() {
        records.take();
    }

    // ---- credits ----

    /**
     * Whether the peer has room for one more message or notification. These are the contract's
     * credits, which a retained message keeps; those of short messages come back with each copy and
     * never run out before these.
     */
    boolean hasCredit(GniConnection c) {
        if (c.hasCredit()) {
            return true;
        }
        long taken = Mailboxes.takenByPeer(c);
        if (taken < c.takenByPeer || !c.onTakenByPeer(taken)) {
            corrupt(c, "returned credits that it did not have");
            return false;
        }
        return c.hasCredit();
    }

    @Override
    protected int returnCredits(GniConnection c) {
        if (mailboxes.tellTaken(c) < 0) {
            return LATER; // the source queue is full, or the peer is gone: its watch tells
        }
        if (KillSteps.ENABLED) {
            KillSteps.step("java.gni.credits");
        }
        return DELIVERED;
    }

    // ---- ends ----

    @Override
    protected boolean isDelivered(GniConnection c) {
        return !ready.contains(c.index) && c.inFlight() == 0;
    }

    @Override
    protected void onConnected(GniConnection c) {
        ready.add(c.index);
    }

    @Override
    protected void onEnding(GniConnection c) {
        ready.add(c.index); // what it sent before is delivered first
    }

    /** Events were lost: every mailbox is looked at. */
    void readyAll() {
        for (int i = 0; i < table.size(); i++) {
            if (table.at(i).state != GniConnection.FREE) {
                ready.add(i);
            }
        }
    }

    /** An operation found the peer unreachable: looks whether it is gone. */
    void suspect(GniConnection c) {
        look(c, SystemNanoClock.INSTANCE.nanoTime());
    }

    /** The peer wrote nonsense: that is reported, and the connection ends for both. */
    void corrupt(GniConnection c, String what) {
        if (c.state != GniConnection.CONNECTED) {
            return; // its end is on its way
        }
        report(c + ": the peer " + what);
        end(c, true, "the peer " + what);
        tellGivenUp(c);
    }

    // ---- time ----

    @Override
    protected void progress() {
        peers.progress();
        if (pendingCount() > 0) {
            soon(); // an answer to a datagram may let it go out
        }
    }

    @Override
    protected void onWatch(long nowNs) {
        resources.bell(); // throws if our memory was cut
        resources.control.sweep(nowNs, context.peerTimeoutNs());
        records.take(); // what came while many events waited
    }

    @Override
    protected int peerState(GniConnection c) {
        int state = resources.peerState(c.peer.address, c.peer.instance);
        if (state == ugni.GNI_EXT_PEER_DEAD || resources.peerIncarnation() != c.peerIncarnation) {
            return DEAD;
        }
        return state == ugni.GNI_EXT_PEER_STOPPED ? STOPPED : RUNNING;
    }
}
