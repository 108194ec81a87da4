package dev.verbena.nsim.program;

/** Counts by two keys; what counts 0 takes no room. Grows, and allocates nothing else. */
final class CountTable {
    private long[] first = new long[64];
    private int[] second = new int[64];
    private int[] counts = new int[64];
    private int used;

    void increment(long a, int b) {
        int at = find(a, b);
        if (counts[at] == 0) {
            if (2 * ++used > counts.length) {
                grow();
                at = find(a, b);
            }
            first[at] = a;
            second[at] = b;
        }
        counts[at]++;
    }

    /** Takes one away, if there is one. */
    boolean decrement(long a, int b) {
        int at = find(a, b);
        if (counts[at] == 0) {
            return false;
        }
        if (--counts[at] == 0) {
            used--;
            close(at);
        }
        return true;
    }

    boolean contains(long a, int b) {
        return counts[find(a, b)] != 0;
    }

    private int find(long a, int b) {
        int mask = counts.length - 1;
        int at = hash(a, b) & mask;
        while (counts[at] != 0 && (first[at] != a || second[at] != b)) {
            at = (at + 1) & mask;
        }
        return at;
    }

    private static int hash(long a, int b) {
        long z = (a ^ (long) b << 17) * 0x9e3779b97f4a7c15L;
        return (int) (z >>> 32);
    }

    /** Moves entries behind a hole whose home is at or before it. */
    private void close(int hole) {
        int mask = counts.length - 1;
        int at = hole;
        int next = hole;
        while (true) {
            next = (next + 1) & mask;
            if (counts[next] == 0) {
                break;
            }
            int home = hash(first[next], second[next]) & mask;
            if (((next - home) & mask) >= ((next - at) & mask)) {
                first[at] = first[next];
                second[at] = second[next];
                counts[at] = counts[next];
                at = next;
            }
        }
        counts[at] = 0;
    }

    private void grow() {
        long[] oldFirst = first;
        int[] oldSecond = second;
        int[] oldCounts = counts;
        int length = 2 * oldCounts.length;
        first = new long[length];
        second = new int[length];
        counts = new int[length];
        for (int i = 0; i < oldCounts.length; i++) {
            if (oldCounts[i] != 0) {
                int at = find(oldFirst[i], oldSecond[i]);
                first[at] = oldFirst[i];
                second[at] = oldSecond[i];
                counts[at] = oldCounts[i];
            }
        }
    }
}
