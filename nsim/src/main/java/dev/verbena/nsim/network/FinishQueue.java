package dev.verbena.nsim.network;

import java.util.Arrays;

/**
 * Which flow ends first: a heap of rows by time, then by row, with four children per parent, in
 * which a row's time can change.
 */
final class FinishQueue {
    private static final int NONE = -1;

    private int[] heap = new int[64];
    private int[] place = new int[0];
    private long[] time = new long[0];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    int first() {
        return heap[0];
    }

    long firstTime() {
        return time[heap[0]];
    }

    /** Adds a row, or gives it another time. */
    void set(int row, long timePs) {
        if (row >= place.length) {
            int old = place.length;
            place = Arrays.copyOf(place, Math.max(64, Math.max(2 * old, row + 1)));
            time = Arrays.copyOf(time, place.length);
            Arrays.fill(place, old, place.length, NONE);
        }
        time[row] = timePs;
        int at = place[row];
        if (at == NONE) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            at = size++;
            heap[at] = row;
            place[row] = at;
        }
        down(up(at));
    }

    void removeFirst() {
        place[heap[0]] = NONE;
        int last = heap[--size];
        if (size > 0) {
            heap[0] = last;
            place[last] = 0;
            down(0);
        }
    }

    private boolean isBefore(int a, int b) {
        return time[a] < time[b] || time[a] == time[b] && a < b;
    }

    private int up(int from) {
        int at = from;
        int row = heap[at];
        while (at > 0) {
            int parent = (at - 1) >> 2;
            if (!isBefore(row, heap[parent])) {
                break;
            }
            heap[at] = heap[parent];
            place[heap[at]] = at;
            at = parent;
        }
        heap[at] = row;
        place[row] = at;
        return at;
    }

    private void down(int from) {
        int at = from;
        int row = heap[at];
        for (int child = 4 * at + 1; child < size; child = 4 * at + 1) {
            int least = child;
            for (int i = child + 1; i < Math.min(child + 4, size); i++) {
                least = isBefore(heap[i], heap[least]) ? i : least;
            }
            if (!isBefore(heap[least], row)) {
                break;
            }
            heap[at] = heap[least];
            place[heap[at]] = at;
            at = least;
        }
        heap[at] = row;
        place[row] = at;
    }
}
