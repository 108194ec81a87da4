package dev.verbena.flesnet.wire;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Which compute node builds a timeslice, and as which of its own. At first timeslice t belongs to
 * node t mod n. After failures, an epoch begins: what failed nodes still owed comes first, then the
 * timeslices behind the trigger, dealt to the live nodes in turn (section 8). The same decisions
 * give the same assignment everywhere. One thread.
 */
public final class Assignment {
    private static final long NO_BASE = Long.MAX_VALUE;
    private static final long[] NONE = {};

    /** More than any rings have room for. */
    public static final long OWED_MAX = 1 << 21;

    /** More than any run has; sums of it do not overflow. */
    private static final long TIMESLICES_MAX = 1L << 60;

    /** Since a failure. */
    private static final class Epoch {
        final long begin;
        final long[] leftovers;
        final int[] live;
        final int[] positions;
        final long[] bases;

        Epoch(long begin, long[] leftovers, int[] live, long[] bases) {
            this.begin = begin;
            this.leftovers = leftovers;
            this.live = live;
            this.bases = bases;
            positions = new int[bases.length];
            Arrays.fill(positions, -1);
            for (int i = 0; i < live.length; i++) {
                positions[live[i]] = i;
            }
        }

        /** Own timeslices of a live node up to this one. */
        long count(int node, long timeslice) {
            long items = leftovers.length + timeslice + 1 - begin - positions[node];
            return bases[node] + Math.max(0, Math.floorDiv(items + live.length - 1, live.length));
        }
    }

    private final int nodes;
    private final List<Epoch> epochs = new ArrayList<>();

    /** All nodes live. */
    public Assignment(int nodes) {
        this.nodes = nodes;
        int[] all = new int[nodes];
        for (int i = 0; i < nodes; i++) {
            all[i] = i;
        }
        epochs.add(new Epoch(0, NONE, all, new long[nodes]));
    }

    /** The node that builds a timeslice. */
    public int node(long timeslice) {
        for (int i = epochs.size() - 1; ; i--) {
            Epoch epoch = epochs.get(i);
            long at = item(epoch, timeslice);
            if (at >= 0) {
                return epoch.live[(int) (at % epoch.live.length)];
            }
        }
    }

    /** As which of its node's own a timeslice is built, from 0. */
    public long descriptor(long timeslice) {
        for (int i = epochs.size() - 1; ; i--) {
            Epoch epoch = epochs.get(i);
            long at = item(epoch, timeslice);
            if (at >= 0) {
                int n = epoch.live.length;
                return epoch.bases[epoch.live[(int) (at % n)]] + at / n;
            }
        }
    }

    private static long item(Epoch epoch, long timeslice) {
        return timeslice >= epoch.begin
                ? epoch.leftovers.length + timeslice - epoch.begin
                : Arrays.binarySearch(epoch.leftovers, timeslice);
    }

    /** The timeslice that a node builds as this one of its own. */
    public long timeslice(int node, long descriptor) {
        for (int i = epochs.size() - 1; i >= 0; i--) {
            Epoch epoch = epochs.get(i);
            if (epoch.bases[node] <= descriptor) {
                long at =
                        (descriptor - epoch.bases[node]) * epoch.live.length
                                + epoch.positions[node];
                int owed = epoch.leftovers.length;
                return at < owed ? epoch.leftovers[(int) at] : epoch.begin + at - owed;
            }
        }
        throw new IllegalArgumentException("node " + node + " never had " + descriptor);
    }

    /**
     * Nodes have failed.
     *
     * @param failed live so far, ascending
     * @param done of each, its own timeslices that are acknowledged
     * @param trigger last timeslice that stays as it was; at least {@link #begin()} - 1
     */
    public void fail(int[] failed, long[] done, long trigger) {
        requirePossible(failed, done, trigger);
        Epoch last = epochs.get(epochs.size() - 1);
        List<Long> owed = new ArrayList<>();
        for (int i = 0; i < failed.length; i++) {
            long count = last.count(failed[i], trigger);
            for (long d = done[i]; d < count; d++) {
                owed.add(timeslice(failed[i], d));
            }
        }
        int[] live =
                Arrays.stream(last.live)
                        .filter(node -> Arrays.binarySearch(failed, node) < 0)
                        .toArray();
        long[] bases = new long[nodes];
        Arrays.fill(bases, NO_BASE);
        for (int node : live) {
            bases[node] = last.count(node, trigger);
        }
        long[] leftovers = owed.stream().mapToLong(Long::longValue).sorted().toArray();
        epochs.add(new Epoch(trigger + 1, leftovers, live, bases));
    }

    /**
     * Looks at a decision that may come from anywhere, before anything follows it.
     *
     * @throws IllegalArgumentException if {@link #fail} would not take it
     */
    public void requirePossible(int[] failed, long[] done, long trigger) {
        Epoch last = epochs.get(epochs.size() - 1);
        if (trigger < last.begin - 1 || trigger > TIMESLICES_MAX) {
            throw new IllegalArgumentException(
                    "trigger %s, not from %s on".formatted(trigger, last.begin - 1));
        }
        if (failed.length == 0 || failed.length >= last.live.length) {
            throw new IllegalArgumentException(
                    "%s of %s compute nodes failed".formatted(failed.length, last.live.length));
        }
        for (int i = 0; i < failed.length; i++) {
            if (!isLive(failed[i]) || i > 0 && failed[i] <= failed[i - 1]) {
                throw new IllegalArgumentException("node %s is not live".formatted(failed[i]));
            }
            long count = last.count(failed[i], trigger);
            if (done[i] < 0 || Math.abs(count - done[i]) > OWED_MAX) {
                throw new IllegalArgumentException(
                        "node %s owes %s to %s".formatted(failed[i], done[i], count));
            }
        }
    }

    /** Own timeslices of a live node that stay as they are when this one is the trigger. */
    public long count(int node, long trigger) {
        return epochs.get(epochs.size() - 1).count(node, trigger);
    }

    /** Whether a node builds timeslices. */
    public boolean isLive(int node) {
        return node >= 0 && node < nodes && position(node) >= 0;
    }

    /** Place of a node among the live ones; -1: it has failed. */
    public int position(int node) {
        return epochs.get(epochs.size() - 1).positions[node];
    }

    /** Live nodes. */
    public int liveCount() {
        return epochs.get(epochs.size() - 1).live.length;
    }

    /** Failures that were decided. */
    public int epoch() {
        return epochs.size() - 1;
    }

    /** First timeslice of the present epoch, apart from what failed nodes owed. */
    public long begin() {
        return epochs.get(epochs.size() - 1).begin;
    }

    /** First own timeslice of a node in this epoch; the largest number if it was not live. */
    public long base(int node, int epoch) {
        return epochs.get(epoch).bases[node];
    }
}
