package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.AckKind;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.LookTable;
import dev.verbena.flesnet.wire.SyncFlyweight;
import dev.verbena.flesnet.wire.SyncSender;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;

/** Messages of a compute node to its inputs. One thread; allocates nothing in steady state. */
final class ComputeSender extends SyncSender<InputPeer> {
    private final ComputeEngine engine;
    private final FlesnetContext context;
    private final InputPeer[] byInput;
    private final IntervalMetadata interval = new IntervalMetadata();
    private final RemoteDescriptor dataRing = new RemoteDescriptor();
    private final RemoteDescriptor descriptorRing = new RemoteDescriptor();

    /** By input, when each peer is to be asked whether it is there. */
    private final LookTable questions;

    private long seenCompleted;
    private long seenReleased;

    /**
     * Nothing is sent.
     *
     * @param byInput peers; its owner changes it
     */
    ComputeSender(
            ComputeEngine engine,
            FlesnetContext context,
            Transport transport,
            InputPeer[] byInput) {
        super(transport, byInput.length);
        this.engine = engine;
        this.context = context;
        this.byInput = byInput;
        questions = new LookTable(byInput.length);
    }

    /** A message of a peer came, or it is new. */
    void heard(InputPeer peer) {
        happened(peer.input());
        questions.lookAt(peer.input(), peer.watch().dueNs());
    }

    /** A peer is gone. */
    void gone(int input) {
        questions.rest(input);
    }

    /** When a peer is to be asked next. */
    long nextDeadlineNs() {
        return questions.earliest();
    }

    /** Sends at most one message on each connection. */
    int flush(long now) {
        long completed = engine.table().completed();
        long released = engine.table().released();
        if (completed != seenCompleted || released != seenReleased) {
            seenCompleted = completed;
            seenReleased = released;
            happened();
        }
        int work = flushAll(now);
        if (engine.scheduler() != null) {
            engine.counts().proposed(engine.scheduler().proposer().lastProposed());
        }
        if (work > 0) {
            engine.counts().sent(messageCount(), byteCount());
        }
        return work;
    }

    @Override
    protected InputPeer sendable(int input) {
        InputPeer peer = byInput[input];
        return peer != null && peer.control().isFree() ? peer : null;
    }

    @Override
    protected boolean flush(InputPeer peer) {
        if (peer.isGreeting()) {
            return greet(peer);
        }
        if (peer.isAnswerDue()) {
            return answer(peer);
        }
        if (peer.toldEpoch() < engine.assignment().epoch()) {
            return tell(peer);
        }
        if (isFailureAskDue(peer)) {
            return askFailures(peer);
        }
        ContributionRing ring = engine.ring(peer.input());
        long received = ring.received();
        long completed = Math.min(engine.table().completed(), received);
        long told = context.ackKind() == AckKind.RECEIVED ? received : 0;
        long toldCompleted = context.ackKind() == AckKind.RELEASED ? 0 : completed;
        if (peer.isAckDue(ring.released(), toldCompleted, told)) {
            long start = context.startPosition();
            peer.control()
                    .begin(SyncFlyweight.ACK)
                    .i64(0, ring.releasedPosition())
                    .i64(8, start + ring.released())
                    .i64(16, start + received)
                    .i64(24, start + completed);
            boolean isSent = send(peer);
            if (isSent) {
                peer.ackSent(ring.released(), toldCompleted, told);
            }
            return isSent;
        }
        return flushRest(peer);
    }

    private boolean flushRest(InputPeer peer) {
        if (engine.scheduler() != null && engine.scheduler().hasAnswer(peer.input())) {
            engine.scheduler().answer(peer.input(), interval);
            peer.control().begin(SyncFlyweight.INTERVAL_PROPOSED).interval(interval);
            return send(peer);
        }
        if (peer.watch().isDue(nowNs())) {
            boolean isAsked = ask(peer);
            questions.lookAt(peer.input(), peer.watch().dueNs());
            return isAsked;
        }
        if (peer.isFinal() && !peer.isFinalSent() && engine.mayLeave()) {
            peer.control().begin(SyncFlyweight.FINAL).i64(0, engine.table().completed());
            return send(peer, InputPeer::finalSent);
        }
        return false;
    }

    private boolean greet(InputPeer peer) {
        engine.ring(peer.input()).describe(dataRing, descriptorRing);
        SyncFlyweight out = peer.control().begin(SyncFlyweight.HELLO_ACK);
        dataRing.encode(out.buffer(), out.body());
        descriptorRing.encode(out.buffer(), out.body() + RemoteDescriptor.LENGTH);
        out.i32(96, context.dataExponent())
                .i32(100, context.descriptorExponent())
                .i64(104, context.startPosition())
                .i32(112, engine.scheduler() == null ? 0 : 1);
        return send(peer, InputPeer::greeted);
    }

    private boolean tell(InputPeer peer) {
        Decision decision = engine.recovery().decision(peer.toldEpoch());
        decision.write(peer.control().begin(SyncFlyweight.DECISION));
        return send(peer, InputPeer::told);
    }

    private boolean isFailureAskDue(InputPeer peer) {
        int epoch = engine.assignment().epoch();
        return peer.askedEpoch() < epoch
                && engine.recovery().isMissing(peer.input())
                && engine.recovery().suspected().length > 0;
    }

    private boolean askFailures(InputPeer peer) {
        int[] nodes = engine.recovery().suspected();
        int epoch = engine.assignment().epoch();
        SyncFlyweight out = peer.control().begin(SyncFlyweight.FAILURE_ASK);
        out.i32(0, epoch).i32(4, nodes.length);
        for (int i = 0; i < nodes.length; i++) {
            out.i32(8 + 4 * i, nodes[i]);
        }
        out.extend(4 * nodes.length);
        boolean isSent = send(peer);
        if (isSent) {
            peer.asked(epoch);
        }
        return isSent;
    }
}
