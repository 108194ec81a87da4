package dev.verbena.cli.perftest;

import java.util.Arrays;

/**
 * What a run of {@code rping} did.
 *
 * @param peer address and port of the other end
 * @param device name of the RDMA device here
 * @param count pings that came back
 * @param size bytes of each
 * @param medianNs of the time that a ping took; on the server from announcement to answer
 */
record RpingResult(String peer, String device, long count, int size, long medianNs) {
    private static final int KEPT = 100_000;

    /** Times of up to the first 100,000 pings. */
    static final class Times {
        private long[] timesNs = new long[64];
        private int kept;
        private long count;

        void add(long timeNs) {
            count++;
            if (kept < KEPT) {
                if (kept == timesNs.length) {
                    timesNs = Arrays.copyOf(timesNs, 2 * kept);
                }
                timesNs[kept++] = timeNs;
            }
        }

        long count() {
            return count;
        }

        long medianNs() {
            long[] sorted = Arrays.copyOf(timesNs, kept);
            Arrays.sort(sorted);
            return kept == 0 ? 0 : sorted[kept / 2];
        }
    }
}
