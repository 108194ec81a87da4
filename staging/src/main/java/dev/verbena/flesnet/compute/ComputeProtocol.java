package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.wire.ControlMemory;
import dev.verbena.flesnet.wire.ControlSlot;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.staging.Names;
import dev.verbena.staging.RareReports;
import dev.verbena.staging.control.ConnectionEnds;
import dev.verbena.staging.control.PeerSlots;
import dev.verbena.transport.Transport;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Connections of a compute node, and the messages on them (section 3.4). One thread. */
final class ComputeProtocol implements AutoCloseable {
    private static final int POLL_LIMIT = 256;
    private static final int DRAIN_POLLS = 1000;
    private static final long DRAIN_PAUSE_NS = 1_000_000L;
    private static final int STRANGERS_MAX = 4;

    private static final long RELEASE_NS = 1_000_000L;

    private final ComputeEngine engine;
    private final FlesnetContext context;
    private final int compute;
    private final Transport transport;
    private final PeerSlots<InputPeer> peers;
    private final InputPeer[] byInput;
    private final boolean[] isOver;
    private final ControlSlot[] controls;
    private final ControlMemory controlMemory;
    private final RareReports hostile;
    private final Events events = new Events();
    private final SyncFlyweight message = new SyncFlyweight();
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private final IntervalMetadata interval = new IntervalMetadata();
    private final ComputeSender sender;

    /** One of the peers was asked, and has not answered. */
    private boolean isWatching;

    private int finalCount;

    /** When it looks for peers that have said no hello. */
    private long silentDueNs;

    private long nowNs;
    private boolean hasLeft;

    ComputeProtocol(
            ComputeEngine engine, FlesnetContext context, int compute, Transport transport) {
        this.engine = engine;
        this.context = context;
        this.compute = compute;
        this.transport = transport;
        int n = context.inputs();
        controlMemory = new ControlMemory(transport, n);
        peers = new PeerSlots<>(n + STRANGERS_MAX);
        byInput = new InputPeer[n];
        isOver = new boolean[n];
        controls = new ControlSlot[n];
        for (int i = 0; i < n; i++) {
            controls[i] = controlMemory.slot(i, compute, i);
        }
        hostile = new RareReports(context.environment().errorHandler());
        sender = new ComputeSender(engine, context, transport, byInput);
        silentDueNs = context.environment().nanoClock().nanoTime() + context.peerTimeoutNs();
    }

    // ---- receiving

    int poll(long now) {
        nowNs = now;
        if (now - silentDueNs >= 0) {
            dropSilent(now);
        }
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        isWatching |= sender.takeAsked();
        if (isWatching) {
            watch(now);
        }
        return work;
    }

    /** They would keep the places of inputs that come later. */
    private void dropSilent(long now) {
        long limitNs = context.peerTimeoutNs();
        silentDueNs = now + limitNs;
        peers.forEach(
                peer -> {
                    if (peer.isSilent(now, limitNs)) {
                        drop(peer, "it says no hello");
                    }
                });
    }

    private void watch(long now) {
        isWatching = false;
        for (InputPeer peer : byInput) {
            isWatching |= peer != null && peer.watch().isAsked();
            if (peer != null && peer.watch().isLost(now)) {
                drop(peer, "it does not answer");
            }
        }
    }

    /** Something happened that may concern every connection. */
    void happened() {
        sender.happened();
    }

    private void onMessage(InputPeer peer) {
        if (message.type() == SyncFlyweight.HELLO) {
            onHello(peer);
            return;
        }
        if (peer.input() < 0) {
            throw new IllegalArgumentException("says no hello but " + message.type());
        }
        peer.watch().heard(nowNs);
        sender.heard(peer);
        switch (message.type()) {
            case SyncFlyweight.WRITTEN -> {
                if (peer.isFinal()) {
                    throw new IllegalArgumentException("writes after its end");
                }
                engine.onWritten(peer, message, nowNs);
            }
            case SyncFlyweight.INTERVAL_ACTUAL -> onInterval(peer);
            case SyncFlyweight.HEARTBEAT -> peer.onHeartbeat(message.i64(0));
            case SyncFlyweight.HEARTBEAT_ACK -> peer.watch().answered(message.i64(0), nowNs);
            case SyncFlyweight.FINAL -> onFinal(peer);
            case SyncFlyweight.ABORT -> drop(peer, "it aborted");
            case SyncFlyweight.FAILURE_REPORT -> engine.onReport(peer, message);
            case SyncFlyweight.DECISION_ACK -> onDecided(peer);
            default ->
                    throw new IllegalArgumentException(
                            "sync type " + message.type() + " to compute");
        }
    }

    private void onHello(InputPeer peer) {
        int input = message.connection();
        boolean isSame =
                message.i32(0) == context.inputs()
                        && message.i32(4) == context.computes()
                        && message.i32(8) == compute
                        && message.i32(12) == context.microslicesPerComponent();
        if (!isSame || input < 0 || input >= byInput.length || peer.input() >= 0) {
            throw new IllegalArgumentException(
                    "input %s of another run: %s inputs, %s compute nodes, %s microslices"
                            .formatted(input, message.i32(0), message.i32(4), message.i32(12)));
        }
        if (byInput[input] != null || isOver[input]) {
            throw new IllegalArgumentException("input " + input + " is here or was");
        }
        peer.hello(input, controls[input]);
        byInput[input] = peer;
        sender.heard(peer);
        if (engine.scheduler() != null) {
            engine.scheduler().onBegin(input, nowNs, message.i64(16));
        }
    }

    private void onFinal(InputPeer peer) {
        if (peer.isFinal()) {
            throw new IllegalArgumentException("ends twice");
        }
        engine.onEnded(peer, message.i64(0));
        peer.onFinal();
        if (++finalCount == byInput.length) {
            happened();
        }
    }

    /**
     * Whether an input that has ended may leave: not while others may need what only it knows, how
     * far a compute node had come that is lost now.
     */
    boolean mayLeave() {
        return engine.isShrinking() || finalCount == byInput.length;
    }

    private void onInterval(InputPeer peer) {
        if (engine.scheduler() != null) {
            long proposed = engine.scheduler().proposer().lastProposed();
            engine.scheduler()
                    .onReport(
                            peer.input(),
                            message.readInterval(interval),
                            message.i64(44),
                            message.i64(52),
                            message.i64(60),
                            nowNs);
            if (engine.scheduler().proposer().lastProposed() != proposed) {
                happened();
            }
        }
    }

    /** It may have heard of a decision before this node could make it: all are the same. */
    private void onDecided(InputPeer peer) {
        Decision decision = Decision.read(message, context.computes());
        if (decision.epoch() == engine.assignment().epoch()) {
            engine.apply(decision);
        }
        if (decision.epoch() != peer.ackedEpoch()
                || decision.epoch() >= engine.assignment().epoch()) {
            throw new IllegalArgumentException("decision of epoch " + decision.epoch());
        }
        if (!engine.recovery().isOwn(decision)) {
            engine.end(new FlesnetException("compute nodes have decided differently"));
        }
        happened();
        peer.acked(decision.epoch() + 1);
    }

    private void drop(InputPeer peer, String why) {
        transport.disconnect(peer.connection());
        gone(peer, Names.readable(why));
    }

    private void gone(InputPeer peer, String why) {
        if (!peers.remove(peer.context())) {
            return;
        }
        int input = peer.input();
        if (input < 0) {
            hostile.report(nowNs, "a peer is dropped: " + why, IllegalStateException::new);
            return;
        }
        byInput[input] = null;
        sender.gone(input);
        isOver[input] = true;
        if (hasLeft) {
            return;
        }
        if (peer.isFinalSent()) {
            engine.onInputLeft(input);
        } else {
            engine.onInputLost(input, why);
        }
    }

    // ---- sending

    /** Sends at most one message on each connection. */
    int flush(long now) {
        nowNs = now;
        int work = sender.flush(now);
        if (isAllOver() && engine.isEmpty(now)) {
            end();
        }
        return work;
    }

    /** Inputs that have all gone without an end may have given this node up, and go on. */
    private void end() {
        if (finalCount > 0) {
            engine.done();
        } else {
            engine.end(
                    new FlesnetException(
                            "compute node %s lost all inputs before any had ended"
                                    .formatted(compute)));
        }
    }

    private boolean isAllOver() {
        for (int i = 0; i < byInput.length; i++) {
            InputPeer peer = byInput[i];
            boolean isEnded =
                    peer == null ? isOver[i] : peer.isFinalSent() && peer.control().isFree();
            if (!isEnded) {
                return false;
            }
        }
        return true;
    }

    // ---- the end

    /** Tells every input that the run is over without its end, and disconnects. */
    void abort() {
        for (InputPeer peer : byInput) {
            if (peer != null && peer.control().isFree()) {
                peer.control().begin(SyncFlyweight.ABORT);
                peer.control().send(transport, peer.connection());
            }
        }
        leaveAll();
    }

    private void leaveAll() {
        hasLeft = true;
        peers.forEach(peer -> transport.disconnect(peer.connection()));
    }

    /** Disconnects, and takes events until nothing is on its way, at most a second. */
    void leave() {
        if (!hasLeft) {
            leaveAll();
        }
        for (int i = 0; i < DRAIN_POLLS && isSending(); i++) {
            if (transport.poll(events, POLL_LIMIT) <= 0) {
                transport.await(transport.nanoTime() + DRAIN_PAUSE_NS);
            }
        }
    }

    private boolean isSending() {
        for (ControlSlot control : controls) {
            if (!control.isFree()) {
                return true;
            }
        }
        return false;
    }

    long nextDeadlineNs() {
        long next = sender.nextDeadlineNs();
        // Only the consumer has something to do, and its release wakes nobody.
        boolean isWaiting = isAllOver() && !engine.isDone();
        return isWaiting ? Math.min(next, nowNs + RELEASE_NS) : next;
    }

    @Override
    public void close() {
        controlMemory.close();
    }

    private final class Events implements ConnectionEnds {
        @Override
        public void onConnectRequest(
                long connection, URI uri, DirectBuffer privateData, int offset, int length) {
            long heartbeat = context.heartbeatNs();
            InputPeer peer = peers.add(slot -> new InputPeer(connection, slot, heartbeat, nowNs));
            if (peer == null || hasLeft) {
                transport.reject(connection);
            } else if (transport.accept(connection, peer.context()) != Transport.ACCEPTED) {
                gone(peer, "it cannot be accepted");
            }
        }

        @Override
        public void onCompletion(
                long connection, int operation, long opContext, int status, long value) {
            controls[(int) opContext].onSent();
            sender.happened((int) opContext);
        }

        @Override
        public void onMessage(
                long connection,
                long slot,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            InputPeer peer = peers.get(slot);
            if (peer == null) {
                return;
            }
            try {
                view.wrap(buffer, offset, length);
                message.wrap(view, 0, length);
                ComputeProtocol.this.onMessage(peer);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                drop(peer, e.getMessage());
            }
        }

        @Override
        public void onGone(long connection, long slot, String reason) {
            InputPeer peer = peers.get(slot);
            if (peer != null) {
                gone(peer, reason);
            }
        }
    }
}
