package dev.verbena.nsim.network;

import dev.verbena.nsim.internal.VirtualTime;

/** How long bytes take at a rate, rounded up to whole picoseconds once per transfer. */
final class TransferTime {
    private static final long PS_PER_SECOND = 1_000_000_000_000L;

    private final long rate;
    private final int[] sizes = new int[2];
    private final long[] times = new long[2];
    private int oldest;

    /** A rate in bytes per second; 0 is infinitely fast. */
    TransferTime(long rate) {
        this.rate = rate;
    }

    long of(int bytes) {
        // Nearly all packets are full ones and control packets.
        if (bytes == sizes[0]) {
            return times[0];
        }
        if (bytes == sizes[1]) {
            return times[1];
        }
        return remember(bytes);
    }

    /** How long packets take one behind another, all of them full but the last. */
    long of(long packets, int full, int last) {
        return VirtualTime.sum(VirtualTime.times(packets - 1, of(full)), of(last));
    }

    private long remember(int bytes) {
        long product = bytes * PS_PER_SECOND;
        long time = rate == 0 ? 0 : product / rate + (product % rate == 0 ? 0 : 1);
        sizes[oldest] = bytes;
        times[oldest] = time;
        oldest ^= 1;
        return time;
    }
}
