package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.SyncFlyweight;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The failure of other compute nodes, as a live one handles it (section 8): when every input has
 * reported for this epoch, the failed nodes are all that any input suspects, of each the largest
 * acknowledged count holds, and the smallest trigger. As every live node gets the same reports, all
 * decide alike. Control path: allocates. One thread.
 */
final class ComputeRecovery {
    private static final int EPOCHS_KEPT = 4;

    /** What was decided for an epoch. */
    record Decision(int epoch, long trigger, int[] failed, long[] done) {}

    /** What an input has reported. */
    private record Report(int epoch, long trigger, boolean[] suspected, long[] acknowledged) {}

    private final int computes;
    private final Assignment assignment;
    private final boolean isTimed;
    private final Report[][] reports;
    private final boolean[] isGone;

    /** Of each input that has ended, its last timeslice: all up to it were released; -1: none. */
    private final long[] last;

    private int reportedEpoch = -1;
    private final List<Decision> decisions = new ArrayList<>();

    /**
     * Nothing has failed.
     *
     * @param isTimed timeslices are delivered that not every input has sent: the largest trigger
     *     holds, so that none of them is taken back
     */
    ComputeRecovery(int inputs, int computes, Assignment assignment, boolean isTimed) {
        this.computes = computes;
        this.assignment = assignment;
        this.isTimed = isTimed;
        reports = new Report[EPOCHS_KEPT][inputs];
        isGone = new boolean[inputs];
        last = new long[inputs];
        Arrays.fill(last, -1);
    }

    /**
     * An input reports.
     *
     * @param last timeslice that it has sent here
     */
    void onReport(int input, SyncFlyweight message, long last) {
        int n = message.count(12, computes, 9);
        int epoch = message.i32(0);
        if (n != computes || epoch < 0 || epoch - assignment.epoch() >= EPOCHS_KEPT) {
            throw new IllegalArgumentException(
                    "report of epoch %s with %s nodes".formatted(epoch, n));
        }
        long trigger = message.i64(4);
        long begin = assignment.begin();
        boolean[] suspected = new boolean[n];
        long[] acknowledged = new long[n];
        for (int i = 0; i < n; i++) {
            suspected[i] = message.buffer().getByte(message.body() + 16 + 9 * i) != 0;
            acknowledged[i] = message.i64(16 + 9 * i + 1);
            // A report that comes after the decision, which others made known, is of no use.
            boolean isCurrent = epoch >= assignment.epoch();
            boolean isLow = trigger < begin - 1 || epoch == assignment.epoch() && trigger < last;
            boolean isWrong = suspected[i] && !assignment.isLive(i) || isLow;
            if (acknowledged[i] < 0 || isCurrent && isWrong) {
                throw new IllegalArgumentException("report about compute node " + i);
            }
        }
        if (epoch >= assignment.epoch()) {
            reportedEpoch = Math.max(reportedEpoch, epoch);
            reports[epoch % EPOCHS_KEPT][input] =
                    new Report(epoch, trigger, suspected, acknowledged);
        }
    }

    /** An input is lost and will not report. */
    void omit(int input) {
        isGone[input] = true;
    }

    /** An input has ended after so many timeslices, which live compute nodes have all released. */
    void ended(int input, long total) {
        last[input] = Math.max(0, total) - 1;
    }

    private Report report(int input) {
        Report report = reports[assignment.epoch() % EPOCHS_KEPT][input];
        return report != null && report.epoch() == assignment.epoch() ? report : null;
    }

    /** Whether this epoch is to end, and this input has not reported. */
    boolean isMissing(int input) {
        return reportedEpoch >= assignment.epoch() && report(input) == null;
    }

    /** Nodes that inputs suspect in this epoch, ascending; empty: none. */
    int[] suspected() {
        boolean[] union = new boolean[computes];
        for (int i = 0; i < isGone.length; i++) {
            Report report = report(i);
            for (int c = 0; report != null && c < computes; c++) {
                union[c] |= report.suspected()[c];
            }
        }
        int n = 0;
        int[] nodes = new int[computes];
        for (int c = 0; c < computes; c++) {
            if (union[c]) {
                nodes[n++] = c;
            }
        }
        return Arrays.copyOf(nodes, n);
    }

    /** The decision of this epoch, as soon as all inputs have reported; null before. */
    Decision decide() {
        long least = Long.MAX_VALUE;
        long largest = -1;
        for (int i = 0; i < isGone.length; i++) {
            Report report = report(i);
            if (report == null && !isGone[i]) {
                return null;
            }
            // One that has ended sets no smallest trigger.
            long sent = report == null ? last[i] : report.trigger();
            if (sent != Long.MAX_VALUE) {
                least = report == null ? least : Math.min(least, sent);
                largest = Math.max(largest, sent);
            }
        }
        int[] failed = suspected();
        long[] done = new long[failed.length];
        for (int f = 0; f < failed.length; f++) {
            for (int i = 0; i < isGone.length; i++) {
                done[f] = Math.max(done[f], acknowledged(i, failed[f]));
            }
        }
        boolean isEmpty = failed.length == 0 || least == Long.MAX_VALUE;
        long trigger = isTimed ? largest : least;
        return isEmpty ? null : new Decision(assignment.epoch(), trigger, failed, done);
    }

    private long acknowledged(int input, int node) {
        Report report = report(input);
        if (report != null) {
            return report.acknowledged()[node];
        }
        // An end in an earlier epoch says nothing of what was dealt anew.
        return last[input] >= assignment.begin() - 1 ? assignment.count(node, last[input]) : 0;
    }

    /** Reads a decision that an input has carried out. */
    Decision read(SyncFlyweight message) {
        int n = message.count(12, computes, 12);
        int[] failed = new int[n];
        long[] done = new long[n];
        for (int i = 0; i < n; i++) {
            failed[i] = message.i32(16 + 12 * i);
            done[i] = message.i64(16 + 12 * i + 4);
            boolean isSorted = i == 0 || failed[i] > failed[i - 1];
            if (failed[i] < 0 || failed[i] >= computes || !isSorted || done[i] < 0) {
                throw new IllegalArgumentException("decision about compute node " + failed[i]);
            }
        }
        return new Decision(message.i32(0), message.i64(4), failed, done);
    }

    /**
     * Carries a decision out here.
     *
     * @throws IllegalArgumentException if it cannot be one of this epoch
     */
    void apply(Decision decision) {
        if (decision.epoch() != assignment.epoch()) {
            throw new IllegalArgumentException(
                    "decision of epoch %s in %s".formatted(decision.epoch(), assignment.epoch()));
        }
        assignment.fail(decision.failed(), decision.done(), decision.trigger());
        decisions.add(decision);
    }

    /** The decision that ended an epoch. */
    Decision decision(int epoch) {
        return decisions.get(epoch);
    }

    /** Whether this is what was decided for its epoch, which is over. */
    boolean isOwn(Decision decision) {
        Decision own = decisions.get(decision.epoch());
        return own.trigger() == decision.trigger()
                && Arrays.equals(own.failed(), decision.failed())
                && Arrays.equals(own.done(), decision.done());
    }

    /** Writes a decision. */
    static void write(SyncFlyweight message, Decision decision) {
        int n = decision.failed().length;
        message.i32(0, decision.epoch()).i64(4, decision.trigger()).i32(12, n);
        for (int i = 0; i < n; i++) {
            message.i32(16 + 12 * i, decision.failed()[i]);
            message.i64(16 + 12 * i + 4, decision.done()[i]);
        }
        message.extend(12 * n);
    }
}
