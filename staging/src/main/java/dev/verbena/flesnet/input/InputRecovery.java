package dev.verbena.flesnet.input;

import dev.verbena.flesnet.dfs.IntervalPacer;
import dev.verbena.flesnet.dfs.IntervalRanges;
import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.SyncFlyweight;
import java.util.ArrayList;
import java.util.List;

/**
 * The failure of compute nodes, as an input handles it (section 8). It reports once for each epoch
 * what it suspects, what every node has acknowledged and the last timeslice that it has sent; then
 * it sends nothing beyond that until live compute nodes have decided, which they do alike. One
 * whose timeslices are all released reports only when it is asked, and sets no trigger unless
 * timeslices were delivered without others. Control path: allocates. One thread.
 */
final class InputRecovery {
    private final InputLink[] links;
    private final Assignment assignment;
    private final IntervalRanges ranges;
    private final IntervalPacer pacer;
    private final boolean[] isSuspected;
    private final long[] acknowledged;

    /** Suspects that the report of this epoch names: every compute node must get the same. */
    private boolean[] isReported = {};

    private boolean isReporting;
    private long trigger;
    private long highestSent = -1;

    /** What is to be carried out; null: nothing. */
    private Decision decided;

    /** What was carried out, by epoch: a slow compute node gets all of them, in order. */
    private final List<Decision> applied = new ArrayList<>();

    /** What the engine does for it. */
    interface Engine {
        /** A node counts as lost from now on; ends the run if it cannot go on without. */
        void lose(InputLink link, String reason);

        /** Whether everything of this input is released. */
        boolean isEnding();
    }

    private final Engine engine;

    /** A timeslice that was delivered without this input may be beyond what it has sent. */
    private final long ahead;

    InputRecovery(
            InputLink[] links,
            Assignment assignment,
            IntervalRanges ranges,
            IntervalPacer pacer,
            Engine engine,
            boolean isTimed) {
        this.links = links;
        this.assignment = assignment;
        this.ranges = ranges;
        this.pacer = pacer;
        this.engine = engine;
        ahead = isTimed ? Assignment.OWED_MAX : 0;
        isSuspected = new boolean[links.length];
        acknowledged = new long[links.length];
    }

    void onSent(long timeslice) {
        highestSent = Math.max(highestSent, timeslice);
    }

    /**
     * Whether a timeslice must not be sent before a decision. A compute node that has not decided
     * may still look at descriptors that were undone: nothing is written over them.
     */
    boolean isHeld(InputLink link, long timeslice) {
        return decided != null
                || link.decidedEpoch() < applied.size()
                || isReporting && timeslice > trigger;
    }

    /** A node is lost. */
    void suspect(int node) {
        isSuspected[node] = true;
        if (!isReporting && assignment.isLive(node)) {
            isReporting = true;
            isReported = isSuspected.clone();
            trigger =
                    engine.isEnding() && ahead == 0
                            ? Long.MAX_VALUE
                            : Math.max(highestSent, assignment.begin() - 1);
            for (InputLink link : links) {
                acknowledged[link.compute] = link.released();
                link.needReport(!link.isLost());
            }
        }
    }

    /** A compute node asks, as another input has reported. */
    void onAsk(SyncFlyweight message) {
        int n = message.count(4, links.length, 4);
        if (message.i32(0) != assignment.epoch()) {
            return;
        }
        for (int i = 0; i < n; i++) {
            suspectRemote(message.i32(8 + 4 * i));
        }
    }

    private void suspectRemote(int node) {
        if (node < 0 || node >= links.length) {
            throw new IllegalArgumentException("there is no compute node " + node);
        }
        if (assignment.isLive(node) && !isSuspected[node]) {
            engine.lose(links[node], "another input lost it");
            suspect(node);
        }
    }

    /** Writes the report of this epoch. */
    void writeReport(SyncFlyweight message) {
        message.i32(0, assignment.epoch()).i64(4, trigger).i32(12, links.length);
        for (int i = 0; i < links.length; i++) {
            boolean isNew = isReported[i] && assignment.isLive(i);
            message.buffer().putByte(message.body() + 16 + 9 * i, (byte) (isNew ? 1 : 0));
            message.i64(16 + 9 * i + 1, acknowledged[i]);
        }
        message.extend(9 * links.length);
    }

    /** A compute node has decided; the first decision of an epoch counts, all are the same. */
    void onDecision(SyncFlyweight message) {
        Decision decision = Decision.read(message, links.length);
        if (decision.epoch() != assignment.epoch() || decided != null) {
            return;
        }
        assignment.requirePossible(decision.failed(), decision.done(), decision.trigger());
        requireAgreement(decision.failed(), decision.done(), decision.trigger());
        decided = decision;
        for (int node : decision.failed()) {
            isSuspected[node] = true;
            if (!links[node].isLost()) {
                engine.lose(links[node], "it was given up");
            }
        }
    }

    /** A decision takes back nothing that was acknowledged, and this input's report is in it. */
    private void requireAgreement(int[] nodes, long[] done, long last) {
        boolean isWrong = !isReporting || last - trigger > ahead;
        for (int i = 0; i < nodes.length; i++) {
            isWrong |= done[i] < acknowledged[nodes[i]];
        }
        for (InputLink link : links) {
            boolean isLive = assignment.isLive(link.compute) && !link.isLost();
            isWrong |= isLive && assignment.count(link.compute, last) < link.completed();
        }
        if (isWrong) {
            throw new IllegalArgumentException(
                    "decision for timeslice %s, reported %s".formatted(last, trigger));
        }
    }

    /** Carries a decision out as soon as no write is on its way; work done. */
    int doWork(long nowNs) {
        if (decided == null) {
            return 0;
        }
        for (InputLink link : links) {
            if (link.isWriting()) {
                return 0;
            }
        }
        apply(nowNs);
        return 1;
    }

    private void apply(long nowNs) {
        int epoch = assignment.epoch();
        int[] failed = decided.failed();
        boolean isBehind = decided.trigger() > highestSent;
        if (pacer != null && isBehind && ranges.intervalOf(decided.trigger()) > pacer.open()) {
            // What is owed comes after intervals that others have sent, and could not open here.
            pacer.stop();
        }
        for (int i = 0; i < failed.length; i++) {
            settleFailed(links[failed[i]], decided.done()[i], nowNs);
        }
        assignment.fail(failed, decided.done(), decided.trigger());
        for (InputLink link : links) {
            if (assignment.isLive(link.compute)) {
                undo(link, assignment.base(link.compute, epoch + 1));
            }
        }
        ranges.change(decided.trigger() + 1, assignment.liveCount());
        highestSent = Math.min(highestSent, decided.trigger());
        applied.add(decided);
        decided = null;
        isReporting = false;
        for (InputLink link : links) {
            link.needReport(false);
        }
        for (InputLink link : links) {
            if (isSuspected[link.compute] && assignment.isLive(link.compute)) {
                suspect(link.compute);
            }
        }
    }

    /** What the failed node has had acknowledged to anybody is done; the rest is owed again. */
    private void settleFailed(InputLink link, long done, long nowNs) {
        if (pacer != null) {
            for (long d = link.counted(); d < done; d++) {
                long timeslice = assignment.timeslice(link.compute, d);
                if (d >= link.next()) {
                    pacer.onSent(timeslice, nowNs);
                }
                pacer.onAcked(timeslice, nowNs);
            }
        }
        undo(link, done);
        link.settle(done);
    }

    private void undo(InputLink link, long from) {
        for (long d = link.next() - 1; pacer != null && d >= from; d--) {
            pacer.onUndone(link.timeslice(d), d < link.counted());
        }
        link.undo(from);
    }

    /** Whether a compute node is owed a decision that was carried out. */
    boolean isAckDue(InputLink link) {
        return link.ackedEpoch() < applied.size();
    }

    /** The decision that was carried out for an epoch. */
    Decision applied(int epoch) {
        return applied.get(epoch);
    }

    /**
     * Whether no connection can go on before the source does, which waits for room. What a lost
     * node owed comes after all that any input had sent, and this ring may not hold that much.
     */
    boolean isStuck(InputRing ring) {
        boolean isStuck = assignment.epoch() > 0 && ring.isRefused();
        for (int i = 0; isStuck && i < links.length; i++) {
            InputLink link = links[i];
            long timeslice = assignment.timeslice(link.compute, link.next());
            boolean isIdle = link.released() == link.next() && !ring.hasComponent(timeslice);
            isStuck = isIdle || !link.isReady();
        }
        return isStuck;
    }

    /** Whether a failure waits for its decision. */
    boolean isBusy() {
        return isReporting || decided != null;
    }
}
