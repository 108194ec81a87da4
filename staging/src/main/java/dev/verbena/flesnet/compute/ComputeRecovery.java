package dev.verbena.flesnet.compute;

import dev.verbena.flesnet.wire.Assignment;
import dev.verbena.flesnet.wire.Decision;
import dev.verbena.flesnet.wire.SyncFlyweight;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The failure of other compute nodes, as a live one handles it (section 8): when every input has
 * reported for this epoch, the failed nodes are all that any input suspects, of each the largest
 * acknowledged count holds, and the smallest trigger. As every live node gets the same reports, all
 * decide alike. Control path: allocates. One thread.
 */
final class ComputeRecovery {
    private static final int EPOCHS_KEPT = 4;

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
        return IntStream.range(0, computes).filter(this::isSuspected).toArray();
    }

    private boolean isSuspected(int node) {
        return IntStream.range(0, isGone.length)
                .mapToObj(this::report)
                .anyMatch(report -> report != null && report.suspected()[node]);
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
        return decisions.get(decision.epoch()).isSame(decision);
    }
}
