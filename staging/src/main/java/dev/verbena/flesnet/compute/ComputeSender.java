package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.AckKind;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.wire.ControlSlot;
import dev.verbena.flesnet.wire.LookTable;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;

/**
 * Messages of a compute node to its inputs: one at a time on each connection, the most urgent of
 * what is due (section 3.6). One thread; allocates nothing in steady state.
 */
final class ComputeSender {
    private final ComputeEngine engine;
    private final FlesnetContext context;
    private final Transport transport;
    private final InputPeer[] byInput;
    private final ControlSlot[] controls;
    private final IntervalMetadata interval = new IntervalMetadata();
    private final RemoteDescriptor dataRing = new RemoteDescriptor();
    private final RemoteDescriptor descriptorRing = new RemoteDescriptor();

    /** By input, the connections that may have something to send. */
    private final LookTable looks;

    /** By input, when each peer is to be asked whether it is there. */
    private final LookTable questions;

    private long seenCompleted;
    private long seenReleased;
    private long messageCount;
    private long byteCount;
    private boolean isRefused;
    private boolean isAsked;
    private long nowNs;

    /**
     * Nothing is sent.
     *
     * @param byInput peers; its owner changes it
     */
    ComputeSender(
            ComputeEngine engine,
            FlesnetContext context,
            Transport transport,
            InputPeer[] byInput,
            ControlSlot[] controls) {
        this.engine = engine;
        this.context = context;
        this.transport = transport;
        this.byInput = byInput;
        this.controls = controls;
        looks = new LookTable(byInput.length);
        questions = new LookTable(byInput.length);
    }

    /** A message of a peer came, or it is new. */
    void heard(InputPeer peer) {
        looks.look(peer.input());
        questions.lookAt(peer.input(), peer.watch().dueNs());
    }

    /** A peer is gone. */
    void gone(int input) {
        questions.rest(input);
    }

    /** Something happened on a connection. */
    void happened(int input) {
        looks.look(input);
    }

    /** Something happened that may concern every connection. */
    void happened() {
        looks.lookAll();
    }

    /** Whether a peer was asked since the last call, so that it may be found lost. */
    boolean takeAsked() {
        boolean wasAsked = isAsked;
        isAsked = false;
        return wasAsked;
    }

    /** When a peer is to be asked next. */
    long nextDeadlineNs() {
        return questions.earliest();
    }

    /** Sends at most one message on each connection. */
    int flush(long now) {
        nowNs = now;
        long completed = engine.table().completed();
        long released = engine.table().released();
        if (completed != seenCompleted || released != seenReleased) {
            seenCompleted = completed;
            seenReleased = released;
            looks.lookAll();
        }
        looks.expire(now);
        int work = 0;
        for (int i = looks.next(0); i >= 0; i = looks.next(i + 1)) {
            work += look(i);
        }
        if (engine.scheduler() != null) {
            engine.counts()
                    .scheduled(
                            engine.scheduler().proposer().speedUpCount(),
                            engine.scheduler().proposer().lastProposed());
        }
        if (work > 0) {
            engine.counts().sent(messageCount, byteCount);
        }
        return work;
    }

    private int look(int input) {
        looks.rest(input);
        InputPeer peer = byInput[input];
        if (peer == null || !controls[input].isFree()) {
            return 0;
        }
        isRefused = false;
        boolean isSent = flush(peer, controls[input]);
        if (isRefused) {
            looks.look(input);
        } else if (!isSent) {
            looks.lookAt(input, peer.watch().dueNs());
        }
        return isSent ? 1 : 0;
    }

    private boolean send(InputPeer peer, ControlSlot control) {
        long before = control.bytes();
        boolean isSent = control.send(transport, peer.connection());
        isRefused |= !isSent;
        messageCount += isSent ? 1 : 0;
        byteCount += control.bytes() - before;
        return isSent;
    }

    private boolean flush(InputPeer peer, ControlSlot control) {
        if (peer.isGreeting()) {
            return greet(peer, control);
        }
        if (peer.isHeartbeatAck()) {
            control.begin(SyncFlyweight.HEARTBEAT_ACK).i64(0, peer.heartbeatTime());
            boolean isSent = send(peer, control);
            if (isSent) {
                peer.heartbeatAckSent();
            }
            return isSent;
        }
        if (peer.toldEpoch() < engine.assignment().epoch()) {
            return tell(peer, control);
        }
        if (isAskDue(peer)) {
            return ask(peer, control);
        }
        ContributionRing ring = engine.ring(peer.input());
        long received = ring.received();
        long completed = Math.min(engine.table().completed(), received);
        long told = context.ackKind() == AckKind.RECEIVED ? received : 0;
        long toldCompleted = context.ackKind() == AckKind.RELEASED ? 0 : completed;
        if (peer.isAckDue(ring.released(), toldCompleted, told)) {
            long start = context.startPosition();
            control.begin(SyncFlyweight.ACK)
                    .i64(0, ring.releasedPosition())
                    .i64(8, start + ring.released())
                    .i64(16, start + received)
                    .i64(24, start + completed);
            boolean isSent = send(peer, control);
            if (isSent) {
                peer.ackSent(ring.released(), toldCompleted, told);
            }
            return isSent;
        }
        return flushRest(peer, control);
    }

    private boolean flushRest(InputPeer peer, ControlSlot control) {
        if (engine.scheduler() != null && engine.scheduler().hasAnswer(peer.input())) {
            engine.scheduler().answer(peer.input(), interval);
            control.begin(SyncFlyweight.INTERVAL_PROPOSED).interval(interval);
            return send(peer, control);
        }
        if (peer.watch().isDue(nowNs)) {
            control.begin(SyncFlyweight.HEARTBEAT).i64(0, nowNs);
            boolean isSent = send(peer, control);
            if (isSent) {
                peer.watch().asked(nowNs);
                questions.lookAt(peer.input(), peer.watch().dueNs());
                isAsked = true;
            }
            return isSent;
        }
        if (peer.isFinal() && !peer.isFinalSent() && engine.mayLeave()) {
            control.begin(SyncFlyweight.FINAL).i64(0, engine.table().completed());
            boolean isSent = send(peer, control);
            if (isSent) {
                peer.finalSent();
            }
            return isSent;
        }
        return false;
    }

    private boolean greet(InputPeer peer, ControlSlot control) {
        engine.ring(peer.input()).describe(dataRing, descriptorRing);
        SyncFlyweight out = control.begin(SyncFlyweight.HELLO_ACK);
        dataRing.encode(out.buffer(), out.body());
        descriptorRing.encode(out.buffer(), out.body() + RemoteDescriptor.LENGTH);
        out.i32(96, context.dataExponent())
                .i32(100, context.descriptorExponent())
                .i64(104, context.startPosition())
                .i32(112, engine.scheduler() == null ? 0 : 1);
        boolean isSent = send(peer, control);
        if (isSent) {
            peer.greeted();
        }
        return isSent;
    }

    private boolean tell(InputPeer peer, ControlSlot control) {
        ComputeRecovery.Decision decision = engine.recovery().decision(peer.toldEpoch());
        ComputeRecovery.write(control.begin(SyncFlyweight.DECISION), decision);
        boolean isSent = send(peer, control);
        if (isSent) {
            peer.told(peer.toldEpoch() + 1);
        }
        return isSent;
    }

    private boolean isAskDue(InputPeer peer) {
        int epoch = engine.assignment().epoch();
        return peer.askedEpoch() < epoch
                && engine.recovery().isMissing(peer.input())
                && engine.recovery().suspected().length > 0;
    }

    private boolean ask(InputPeer peer, ControlSlot control) {
        int[] nodes = engine.recovery().suspected();
        int epoch = engine.assignment().epoch();
        SyncFlyweight out = control.begin(SyncFlyweight.FAILURE_ASK);
        out.i32(0, epoch).i32(4, nodes.length);
        for (int i = 0; i < nodes.length; i++) {
            out.i32(8 + 4 * i, nodes[i]);
        }
        out.extend(4 * nodes.length);
        boolean isSent = send(peer, control);
        if (isSent) {
            peer.asked(epoch);
        }
        return isSent;
    }
}
