package dev.verbena.flesnet.dfs;

import java.util.Arrays;

/** Integer statistics that come out alike on every machine. */
final class Medians {
    private Medians() {}

    /** Median of the first values, which are sorted by this; of an even count the floor of both. */
    static long of(long[] values, int count) {
        Arrays.sort(values, 0, count);
        long high = values[count / 2];
        if ((count & 1) != 0) {
            return high;
        }
        long low = values[count / 2 - 1];
        return low + ((high - low) >> 1);
    }

    /** Floor of the mean; exact also where the sum of the values would not fit. */
    static long mean(long[] values, int count) {
        long base = values[0];
        long sum = 0;
        for (int i = 1; i < count; i++) {
            sum += values[i] - base;
        }
        return base + Math.floorDiv(sum, (long) count);
    }
}
