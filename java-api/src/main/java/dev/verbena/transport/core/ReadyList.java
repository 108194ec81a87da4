package dev.verbena.transport.core;

/**
 * Indices of connections with something to do, first in, first out, each at most once. Allocated
 * once. One thread.
 */
public final class ReadyList {
    private final int[] indices;
    private final boolean[] isListed;
    private int head;
    private int count;

    /** For indices from 0 to one below this. */
    public ReadyList(int size) {
        indices = new int[size];
        isListed = new boolean[size];
    }

    /** Appends it unless it is in the list. */
    public void add(int index) {
        if (!isListed[index]) {
            isListed[index] = true;
            int at = head + count;
            indices[at < indices.length ? at : at - indices.length] = index;
            count++;
        }
    }

    /** Whether it is in the list. */
    public boolean contains(int index) {
        return isListed[index];
    }

    /** Whether nothing is. */
    public boolean isEmpty() {
        return count == 0;
    }

    /** How many are. */
    public int count() {
        return count;
    }

    /** Takes the first out; not from an empty list. */
    public int next() {
        int index = indices[head];
        head = head + 1 == indices.length ? 0 : head + 1;
        count--;
        isListed[index] = false;
        return index;
    }
}
