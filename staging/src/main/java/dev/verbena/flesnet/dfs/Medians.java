package dev.verbena.flesnet.dfs;

/** Integer statistics that come out alike on every machine. */
final class Medians {
    private Medians() {}

    /**
     * Median of the first values, whose order this changes; of an even count the floor of both. By
     * selection, since {@code Arrays.sort} allocates on newer JDKs.
     */
    static long of(long[] values, int count) {
        int middle = count / 2;
        select(values, middle, count - 1);
        long high = values[middle];
        if ((count & 1) != 0) {
            return high;
        }
        long low = values[0];
        for (int i = 1; i < middle; i++) {
            low = Math.max(low, values[i]);
        }
        return low + ((high - low) >> 1);
    }

    /** Puts at this place what sorting up to the last would, and nothing greater before it. */
    private static void select(long[] values, int place, int last) {
        int from = 0;
        int to = last;
        while (from < to) {
            long pivot = values[(from + to) >>> 1];
            int i = from;
            int j = to;
            while (i <= j) {
                while (values[i] < pivot) {
                    i++;
                }
                while (values[j] > pivot) {
                    j--;
                }
                if (i <= j) {
                    long swapped = values[i];
                    values[i++] = values[j];
                    values[j--] = swapped;
                }
            }
            if (place <= j) {
                to = j;
            } else if (place >= i) {
                from = i;
            } else {
                return;
            }
        }
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
