package dev.verbena.flesnet.wire;

import java.util.Arrays;

/**
 * What was decided about failed compute nodes (section 8.2).
 *
 * @param epoch that it ends
 * @param trigger the last timeslice of it
 * @param failed the nodes, ascending
 * @param done how many timeslices each of them has done
 */
public record Decision(int epoch, long trigger, int[] failed, long[] done) {
    private static final int ENTRY = 12;

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException if it is not about some of so many nodes
     */
    public static Decision read(SyncFlyweight message, int nodes) {
        int n = message.count(12, nodes, ENTRY);
        int[] failed = new int[n];
        long[] done = new long[n];
        for (int i = 0; i < n; i++) {
            failed[i] = message.i32(16 + ENTRY * i);
            done[i] = message.i64(16 + ENTRY * i + 4);
            boolean isSorted = i == 0 || failed[i] > failed[i - 1];
            if (failed[i] < 0 || failed[i] >= nodes || !isSorted || done[i] < 0) {
                throw new IllegalArgumentException("decision about compute node " + failed[i]);
            }
        }
        return new Decision(message.i32(0), message.i64(4), failed, done);
    }

    /** Writes it. */
    public void write(SyncFlyweight message) {
        message.i32(0, epoch).i64(4, trigger).i32(12, failed.length);
        for (int i = 0; i < failed.length; i++) {
            message.i32(16 + ENTRY * i, failed[i]).i64(16 + ENTRY * i + 4, done[i]);
        }
        message.extend(ENTRY * failed.length);
    }

    /** Whether the other says the same. */
    public boolean isSame(Decision other) {
        return epoch == other.epoch
                && trigger == other.trigger
                && Arrays.equals(failed, other.failed)
                && Arrays.equals(done, other.done);
    }
}
