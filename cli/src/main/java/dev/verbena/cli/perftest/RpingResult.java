package dev.verbena.cli.perftest;

import java.util.Arrays;
import org.agrona.collections.LongArrayList;

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
        private final LongArrayList timesNs = new LongArrayList();
        private long count;

        void add(long timeNs) {
            count++;
            if (timesNs.size() < KEPT) {
                timesNs.addLong(timeNs);
            }
        }

        long count() {
            return count;
        }

        long medianNs() {
            long[] sorted = timesNs.toLongArray();
            Arrays.sort(sorted);
            return sorted.length == 0 ? 0 : sorted[sorted.length / 2];
        }
    }
}
