package dev.verbena.nsim.network;

import dev.verbena.nsim.internal.VirtualTime;
import java.util.Arrays;

/**
 * Flows that are under way, as rows of arrays, and for each resource (a cable, a DMA engine) a list
 * of the flows that use it. A flow's place in the list of one resource is a cell; a row has {@link
 * #stride} cells. Nothing is allocated once the table has grown.
 *
 * <p>A flow's level is its packets per time: 2<sup>12</sup> is one packet in 2<sup>40</sup> ps. Its
 * weight on a resource is the mean size of its packets there, in bytes / 256. So level times weight
 * has the unit of {@link #capacity(long)}.
 */
final class FlowTable {
    static final int NONE = -1;

    /** The bottleneck of a row that is not in use. */
    static final int REMOVED = -2;

    private static final int WEIGHT_BITS = 8;
    private static final int LEVEL_BITS = 12;
    private static final int PERIOD_BITS = 40;

    /** What is left of a flow counts packets by this. */
    private static final int LEFT_BITS = 30;

    /** Packets of the longest flow that can be counted. */
    static final long PACKETS_MAX = Long.MAX_VALUE >> LEFT_BITS;

    private static final int PROGRESS_SHIFT = LEVEL_BITS + PERIOD_BITS - LEFT_BITS;
    private static final double PERIODS_PER_SECOND = 1e12 / (1L << PERIOD_BITS);
    private static final long CAPACITY_MAX = Long.MAX_VALUE >> 2;

    int stride = 16;
    int[] cells = new int[64];
    int[] message = new int[64];
    int[] bottleneck = new int[64];
    long[] level = new long[64];
    long[] left = new long[64];
    long[] sincePs = new long[64];
    long[] latencyPs = new long[64];
    int[] resource = new int[64 * stride];
    int[] next = new int[64 * stride];
    int[] previous = new int[64 * stride];
    long[] weight = new long[64 * stride];

    /** By resource. */
    final long[] capacity;

    final long[] used;
    final int[] count;
    final int[] first;

    private int free = NONE;
    private int end;

    FlowTable(int resources) {
        capacity = new long[resources];
        used = new long[resources];
        count = new int[resources];
        first = new int[resources];
        Arrays.fill(first, NONE);
    }

    /** The unit of levels times weights, from bytes per second. */
    static long capacity(long rate) {
        double exact = rate / PERIODS_PER_SECOND * (1L << WEIGHT_BITS + LEVEL_BITS);
        return (long) Math.min(CAPACITY_MAX, exact);
    }

    /** The weight of packets that have together a number of bytes. */
    static long weight(long bytes, long packets) {
        long whole = bytes / packets;
        return (whole << WEIGHT_BITS) + ((bytes - whole * packets << WEIGHT_BITS) / packets);
    }

    /** A row without cells. */
    int add(int ofMessage, long packets, long timePs) {
        int row = free;
        if (row != NONE) {
            free = message[row];
        } else {
            row = end++;
            if (row == message.length) {
                grow(2 * row);
            }
        }
        message[row] = ofMessage;
        cells[row] = 0;
        bottleneck[row] = NONE;
        level[row] = 0;
        left[row] = packets << LEFT_BITS;
        sincePs[row] = timePs;
        return row;
    }

    /** The flow uses a resource. */
    void use(int row, int ofResource, long withWeight) {
        if (withWeight == 0) {
            return;
        }
        if (cells[row] == stride) {
            widen();
        }
        int cell = row * stride + cells[row]++;
        resource[cell] = ofResource;
        weight[cell] = withWeight;
        int second = first[ofResource];
        next[cell] = second;
        previous[cell] = NONE;
        if (second != NONE) {
            previous[second] = cell;
        }
        first[ofResource] = cell;
        count[ofResource]++;
    }

    /** Takes a flow out of the lists of its resources, and gives its row back. */
    void remove(int row) {
        for (int cell = row * stride, i = 0; i < cells[row]; i++, cell++) {
            int r = resource[cell];
            used[r] -= level[row] * weight[cell];
            count[r]--;
            if (previous[cell] == NONE) {
                first[r] = next[cell];
            } else {
                next[previous[cell]] = next[cell];
            }
            if (next[cell] != NONE) {
                previous[next[cell]] = previous[cell];
            }
        }
        bottleneck[row] = REMOVED;
        message[row] = free;
        free = row;
    }

    /** The highest level that a flow has if it is alone. */
    long levelAlone(int row) {
        long least = Long.MAX_VALUE;
        for (int cell = row * stride, i = 0; i < cells[row]; i++, cell++) {
            least = Math.min(least, capacity[resource[cell]] / weight[cell]);
        }
        return Math.max(1, least);
    }

    /** Counts what has gone since the flow was looked at last, and sets the level from now on. */
    void proceed(int row, long timePs, long newLevel) {
        long duration = timePs - sincePs[row];
        long high = Math.multiplyHigh(level[row], duration);
        long low = level[row] * duration;
        long gone = high << 64 - PROGRESS_SHIFT | low >>> PROGRESS_SHIFT;
        left[row] = Math.max(0, left[row] - gone);
        sincePs[row] = timePs;
        for (int cell = row * stride, i = 0; i < cells[row]; i++, cell++) {
            used[resource[cell]] += (newLevel - level[row]) * weight[cell];
        }
        level[row] = newLevel;
    }

    /** When the rest of a flow will have gone. */
    long finishPs(int row) {
        return sincePs[row] + duration(left[row], level[row]);
    }

    /** How long a number of packets takes at a level. */
    static long durationOf(long packets, long atLevel) {
        return duration(packets << LEFT_BITS, atLevel);
    }

    /** rest * 2^PROGRESS_SHIFT / level, rounded up, in steps that do not overflow. */
    private static long duration(long rest, long atLevel) {
        long quotient = rest / atLevel;
        if (quotient >= Long.MAX_VALUE >> PROGRESS_SHIFT) {
            throw VirtualTime.over();
        }
        long remainder = rest % atLevel;
        for (int bits = PROGRESS_SHIFT; bits > 0; ) {
            int step = Math.min(bits, Long.numberOfLeadingZeros(remainder | 1) - 1);
            remainder <<= step;
            quotient = (quotient << step) + remainder / atLevel;
            remainder %= atLevel;
            bits -= step;
        }
        return quotient + (remainder > 0 ? 1 : 0);
    }

    private void grow(int length) {
        cells = Arrays.copyOf(cells, length);
        message = Arrays.copyOf(message, length);
        bottleneck = Arrays.copyOf(bottleneck, length);
        level = Arrays.copyOf(level, length);
        left = Arrays.copyOf(left, length);
        sincePs = Arrays.copyOf(sincePs, length);
        latencyPs = Arrays.copyOf(latencyPs, length);
        int all = Math.multiplyExact(length, stride);
        resource = Arrays.copyOf(resource, all);
        next = Arrays.copyOf(next, all);
        previous = Arrays.copyOf(previous, all);
        weight = Arrays.copyOf(weight, all);
    }

    /** Ways are longer than expected: rows get twice the cells, so cells get other numbers. */
    private void widen() {
        int rows = message.length;
        int wide = Math.multiplyExact(2, stride);
        int all = Math.multiplyExact(rows, wide);
        int[] newResource = new int[all];
        int[] newNext = new int[all];
        int[] newPrevious = new int[all];
        long[] newWeight = new long[all];
        for (int cell = 0; cell < rows * stride; cell++) {
            int to = wider(cell, wide);
            newResource[to] = resource[cell];
            newWeight[to] = weight[cell];
            newNext[to] = wider(next[cell], wide);
            newPrevious[to] = wider(previous[cell], wide);
        }
        for (int r = 0; r < first.length; r++) {
            first[r] = wider(first[r], wide);
        }
        resource = newResource;
        next = newNext;
        previous = newPrevious;
        weight = newWeight;
        stride = wide;
    }

    private int wider(int cell, int wide) {
        return cell == NONE ? NONE : cell / stride * wide + cell % stride;
    }
}
