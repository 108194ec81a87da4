package dev.verbena.nsim.engine;

/**
 * A heap of events with four children per parent. An event is four longs side by side: time, target
 * and source, sequence number and kind, argument; half a cache line, so that a parent's children
 * lie in two or three lines.
 */
final class EventHeap {
    private static final int WIDTH = 4;
    private static final int SHIFT = 2;

    private long[] heap = new long[WIDTH * 1024];
    private int end;

    boolean isEmpty() {
        return end == 0;
    }

    int size() {
        return end >> SHIFT;
    }

    /** The time of the first event; there must be one. */
    long firstTime() {
        return heap[0];
    }

    long firstEntities() {
        return heap[1];
    }

    long firstOrder() {
        return heap[2];
    }

    long firstArgument() {
        return heap[3];
    }

    void add(long time, long entities, long order, long argument) {
        if (end == heap.length) {
            heap = java.util.Arrays.copyOf(heap, 2 * end);
        }
        long[] h = heap;
        int at = end;
        end += WIDTH;
        while (at > 0) {
            int parent = (((at >> SHIFT) - 1) >> 2) << SHIFT;
            long there = h[parent];
            if (there < time
                    || there == time && !isBefore(entities, order, h[parent + 1], h[parent + 2])) {
                break;
            }
            move(h, parent, at);
            at = parent;
        }
        put(h, at, time, entities, order, argument);
    }

    void removeFirst() {
        long[] h = heap;
        end -= WIDTH;
        int last = end;
        long time = h[last];
        long entities = h[last + 1];
        long order = h[last + 2];
        int at = 0;
        int child = WIDTH;
        while (child < last) {
            int least = leastChild(h, child, Math.min(child + 4 * WIDTH, last));
            long there = h[least];
            if (there > time
                    || there == time && !isBefore(h[least + 1], h[least + 2], entities, order)) {
                break;
            }
            move(h, least, at);
            at = least;
            child = (at << 2) + WIDTH;
        }
        put(h, at, time, entities, order, h[last + 3]);
    }

    private static int leastChild(long[] h, int first, int limit) {
        int least = first;
        long time = h[first];
        for (int i = first + WIDTH; i < limit; i += WIDTH) {
            long there = h[i];
            if (there < time
                    || there == time && isBefore(h[i + 1], h[i + 2], h[least + 1], h[least + 2])) {
                least = i;
                time = there;
            }
        }
        return least;
    }

    private static boolean isBefore(long entities, long order, long thanEntities, long thanOrder) {
        return entities < thanEntities || entities == thanEntities && order < thanOrder;
    }

    private static void move(long[] h, int from, int to) {
        h[to] = h[from];
        h[to + 1] = h[from + 1];
        h[to + 2] = h[from + 2];
        h[to + 3] = h[from + 3];
    }

    private static void put(long[] h, int at, long time, long entities, long order, long argument) {
        h[at] = time;
        h[at + 1] = entities;
        h[at + 2] = order;
        h[at + 3] = argument;
    }
}
