package dev.verbena.nsim.engine;

import java.util.Arrays;

/**
 * The events that wait, in three places by how far away they are, so that most are put and taken
 * without a walk through a large heap: the nearest in a small heap, in their total order; those of
 * the next 8 us in buckets of 2 ns, without order; the rest in a heap. When the small heap is empty
 * the next bucket is poured into it.
 *
 * <p>The small heap is empty only if there is no event at all. It has the events of all buckets up
 * to {@link #current}; the ring of buckets those behind it, as far as it goes; the far heap those
 * behind the ring. Nothing is allocated once it has grown.
 */
final class EventQueue {
    private static final int WIDTH = 4;
    private static final int WIDTH_SHIFT = 2;

    /** A bucket is 2^11 ps wide. */
    private static final int SHIFT = 11;

    private static final int BUCKETS = 1 << 12;
    private static final int MASK = BUCKETS - 1;
    private static final int WORD_MASK = (BUCKETS >> 6) - 1;
    private static final int NONE = -1;

    private final EventHeap near = new EventHeap();
    private final EventHeap far = new EventHeap();
    private final int[] first = new int[BUCKETS];

    /** A bit for each bucket that has an event. */
    private final long[] occupied = new long[BUCKETS >> 6];

    private long[] rows = new long[WIDTH * 1024];
    private int[] next = new int[1024];
    private int free = NONE;
    private int end;
    private int inBuckets;
    private long current;

    EventQueue() {
        Arrays.fill(first, NONE);
    }

    boolean isEmpty() {
        return near.isEmpty();
    }

    int size() {
        return near.size() + inBuckets + far.size();
    }

    /** The time of the first event; there must be one. */
    long firstTime() {
        return near.firstTime();
    }

    long firstEntities() {
        return near.firstEntities();
    }

    long firstOrder() {
        return near.firstOrder();
    }

    long firstArgument() {
        return near.firstArgument();
    }

    void add(long time, long entities, long order, long argument) {
        long bucket = time >>> SHIFT;
        if (near.isEmpty()) {
            current = Math.max(current, bucket);
        }
        if (bucket <= current) {
            near.add(time, entities, order, argument);
        } else if (bucket - current < BUCKETS) {
            put((int) bucket & MASK, time, entities, order, argument);
        } else {
            far.add(time, entities, order, argument);
        }
    }

    private void put(int bucket, long time, long entities, long order, long argument) {
        int row = free;
        if (row != NONE) {
            free = next[row];
        } else {
            row = end++;
            if (row == next.length) {
                next = Arrays.copyOf(next, 2 * row);
                rows = Arrays.copyOf(rows, 2 * rows.length);
            }
        }
        int at = row << WIDTH_SHIFT;
        rows[at] = time;
        rows[at + 1] = entities;
        rows[at + 2] = order;
        rows[at + 3] = argument;
        next[row] = first[bucket];
        first[bucket] = row;
        occupied[bucket >> 6] |= 1L << bucket;
        inBuckets++;
    }

    void removeFirst() {
        near.removeFirst();
        if (near.isEmpty() && (inBuckets > 0 || !far.isEmpty())) {
            refill();
        }
    }

    private void refill() {
        current = inBuckets == 0 ? far.firstTime() >>> SHIFT : nextOccupied();
        while (!far.isEmpty() && (far.firstTime() >>> SHIFT) - current < BUCKETS) {
            long time = far.firstTime();
            long bucket = time >>> SHIFT;
            if (bucket == current) {
                near.add(time, far.firstEntities(), far.firstOrder(), far.firstArgument());
            } else {
                put(
                        (int) bucket & MASK,
                        time,
                        far.firstEntities(),
                        far.firstOrder(),
                        far.firstArgument());
            }
            far.removeFirst();
        }
        pour((int) current & MASK);
    }

    /** The number of the first bucket behind the current one that has an event; there is one. */
    private long nextOccupied() {
        int from = (int) (current + 1) & MASK;
        int word = from >> 6;
        long bits = occupied[word] & -1L << from;
        while (bits == 0) {
            word = word + 1 & WORD_MASK;
            bits = occupied[word];
        }
        int bucket = (word << 6) + Long.numberOfTrailingZeros(bits);
        return current + 1 + (bucket - from & MASK);
    }

    private void pour(int bucket) {
        for (int row = first[bucket]; row != NONE; ) {
            int at = row << WIDTH_SHIFT;
            near.add(rows[at], rows[at + 1], rows[at + 2], rows[at + 3]);
            int following = next[row];
            next[row] = free;
            free = row;
            inBuckets--;
            row = following;
        }
        first[bucket] = NONE;
        occupied[bucket >> 6] &= ~(1L << bucket);
    }
}
