package dev.verbena.nsim.network;

import java.util.Arrays;

/**
 * Gives each flow its max-min fair level: none can have more without taking from one that has no
 * more. Then each flow has a bottleneck: a resource that is used up and on which no flow has a
 * higher level. Levels are packets per time, for that is what interfaces and routers take turns by.
 *
 * <p>When flows come and go, only those are looked at again whose bottleneck may have moved: first
 * the flows that have theirs where something changed; then, as long as there are any, those whose
 * bottleneck is none any more with what the others got.
 */
final class FairShares {
    /** Levels this close (a millionth) are taken for equal, and a resource for used up. */
    private static final int TOLERANCE_BITS = 20;

    private static final int NONE = FlowTable.NONE;

    private final FlowTable flows;

    /** The flows that are looked at, and the resources that these use. */
    private int[] set = new int[64];

    private int[] touched = new int[64];
    private int touchedCount;

    private int setCount;
    private int collected;
    private boolean[] isInSet = new boolean[64];
    private long[] newLevel = new long[64];
    private int[] newBottleneck = new int[64];
    private int[] places = new int[64];
    private int placeCount;

    /**
     * By resource: what the set may use, its weight, and what is left of both while it is dealt.
     */
    private final boolean[] isTouched;

    private final boolean[] isSeen;

    private final long[] room;
    private final long[] weight;
    private final int[] setOn;
    private final long[] roomLeft;
    private final long[] weightLeft;
    private final long[] highest;

    /** The level of those that have their bottleneck here, or {@link #NONE}. */
    private final long[] dealt;

    private final long[] share;
    private int[] heap = new int[64];
    private int heapSize;

    FairShares(FlowTable flows) {
        this.flows = flows;
        int n = flows.capacity.length;
        isTouched = new boolean[n];
        isSeen = new boolean[n];
        dealt = new long[n];
        room = new long[n];
        weight = new long[n];
        setOn = new int[n];
        roomLeft = new long[n];
        weightLeft = new long[n];
        highest = new long[n];
        share = new long[n];
    }

    /** Something changed on all resources of a flow: it is new, or about to be removed. */
    void touch(int row) {
        int from = row * flows.stride;
        for (int i = 0; i < flows.cells[row]; i++) {
            int resource = flows.resource[from + i];
            if (!isTouched[resource]) {
                isTouched[resource] = true;
                if (touchedCount == touched.length) {
                    touched = Arrays.copyOf(touched, 2 * touchedCount);
                }
                touched[touchedCount++] = resource;
            }
        }
    }

    /** The set to begin with: new flows, and those with their bottleneck where one came or went. */
    private void begin() {
        for (int i = 0; i < touchedCount; i++) {
            int resource = touched[i];
            isTouched[resource] = false;
            for (int c = flows.first[resource]; c != NONE; c = flows.next[c]) {
                int row = c / flows.stride;
                if (flows.bottleneck[row] == resource || flows.bottleneck[row] == NONE) {
                    look(row);
                }
            }
        }
        touchedCount = 0;
        placeCount = 0;
        collected = 0;
    }

    private void look(int row) {
        if (row >= isInSet.length) {
            int length = Math.max(row + 1, 2 * row);
            isInSet = Arrays.copyOf(isInSet, length);
            newLevel = Arrays.copyOf(newLevel, length);
            newBottleneck = Arrays.copyOf(newBottleneck, length);
        }
        if (isInSet[row]) {
            return;
        }
        isInSet[row] = true;
        if (setCount == set.length) {
            set = Arrays.copyOf(set, 2 * setCount);
        }
        set[setCount++] = row;
    }

    /**
     * Finds the new levels of all flows that have to change, and answers how many were looked at:
     * {@link #flow} and {@link #levelOf} answer them. {@link #done} ends it.
     */
    int solve() {
        begin();
        int before;
        do {
            collect();
            deal();
            before = setCount;
            for (int i = 0; i < placeCount; i++) {
                checkOthersOn(places[i]);
            }
        } while (setCount > before);
        return setCount;
    }

    int flow(int index) {
        return set[index];
    }

    long levelOf(int row) {
        return newLevel[row];
    }

    void done() {
        for (int i = 0; i < setCount; i++) {
            int row = set[i];
            isInSet[row] = false;
            flows.bottleneck[row] = newBottleneck[row];
        }
        for (int i = 0; i < placeCount; i++) {
            isSeen[places[i]] = false;
        }
        setCount = 0;
    }

    /** Adds what new members of the set use to what the set may use. */
    private void collect() {
        for (; collected < setCount; collected++) {
            int row = set[collected];
            int from = row * flows.stride;
            for (int i = 0; i < flows.cells[row]; i++) {
                int r = flows.resource[from + i];
                if (!isSeen[r]) {
                    see(r);
                }
                room[r] += flows.level[row] * flows.weight[from + i];
                weight[r] += flows.weight[from + i];
                setOn[r]++;
            }
        }
    }

    private void see(int resource) {
        isSeen[resource] = true;
        room[resource] = flows.capacity[resource] - flows.used[resource];
        weight[resource] = 0;
        setOn[resource] = 0;
        if (placeCount == places.length) {
            places = Arrays.copyOf(places, 2 * placeCount);
            heap = new int[places.length];
        }
        places[placeCount++] = resource;
    }

    /** Fills all flows of the set evenly until one resource after the other is used up. */
    private void deal() {
        heapSize = 0;
        for (int i = 0; i < setCount; i++) {
            newLevel[set[i]] = NONE;
        }
        for (int i = 0; i < placeCount; i++) {
            int r = places[i];
            roomLeft[r] = room[r];
            weightLeft[r] = weight[r];
            highest[r] = NONE;
            dealt[r] = NONE;
            share[r] = room[r] / weight[r];
            push(r);
        }
        while (heapSize > 0) {
            int r = heap[0];
            if (weightLeft[r] == 0) {
                pop();
                continue;
            }
            long now = roomLeft[r] / weightLeft[r];
            if (now > share[r]) {
                share[r] = now;
                down(0);
                continue;
            }
            pop();
            fix(r, Math.max(1, now));
        }
    }

    /** All flows of the set on a resource that have no level yet get one. */
    private void fix(int resource, long level) {
        for (int c = flows.first[resource]; c != NONE; c = flows.next[c]) {
            int row = c / flows.stride;
            if (!isInSet[row] || newLevel[row] != NONE) {
                continue;
            }
            newLevel[row] = level;
            dealt[resource] = level;
            newBottleneck[row] = resource;
            int from = row * flows.stride;
            for (int i = 0; i < flows.cells[row]; i++) {
                int r = flows.resource[from + i];
                roomLeft[r] -= level * flows.weight[from + i];
                weightLeft[r] -= flows.weight[from + i];
                highest[r] = Math.max(highest[r], level);
            }
        }
    }

    /** Adds the flows on a resource of which the bottleneck is none any more. */
    private void checkOthersOn(int resource) {
        if (setOn[resource] == flows.count[resource]) {
            return;
        }
        boolean isFull = roomLeft[resource] <= flows.capacity[resource] >> TOLERANCE_BITS;
        for (int c = flows.first[resource]; c != NONE; c = flows.next[c]) {
            int row = c / flows.stride;
            if (isInSet[row]) {
                continue;
            }
            long level = flows.level[row];
            boolean isToGiveAway = dealt[resource] != NONE && isAbove(level, dealt[resource]);
            boolean isToGetMore =
                    flows.bottleneck[row] == resource
                            && (!isFull || isAbove(highest[resource], level));
            if (isToGiveAway || isToGetMore) {
                look(row);
            }
        }
    }

    private static boolean isAbove(long level, long other) {
        return level > other + (other >> TOLERANCE_BITS);
    }

    private void push(int resource) {
        int at = heapSize++;
        while (at > 0) {
            int parent = (at - 1) >> 2;
            if (share[heap[parent]] <= share[resource]) {
                break;
            }
            heap[at] = heap[parent];
            at = parent;
        }
        heap[at] = resource;
    }

    private void pop() {
        int last = heap[--heapSize];
        if (heapSize > 0) {
            heap[0] = last;
            down(0);
        }
    }

    private void down(int from) {
        int at = from;
        int resource = heap[at];
        for (int child = 4 * at + 1; child < heapSize; child = 4 * at + 1) {
            int least = child;
            for (int i = child + 1; i < Math.min(child + 4, heapSize); i++) {
                least = share[heap[i]] < share[heap[least]] ? i : least;
            }
            if (share[heap[least]] >= share[resource]) {
                break;
            }
            heap[at] = heap[least];
            at = least;
        }
        heap[at] = resource;
    }
}
