package dev.verbena.nsim.network;

import java.util.Arrays;

/**
 * Queues before each cable, and the use of cables over time: for runs that ask for it ({@link
 * NetworkContext#isDetailed(boolean)}), at packet level. Links are numbered as in {@link
 * LinkStatistics}.
 *
 * <p>A packet waits from when its head has been routed until its output takes it. Channel and
 * switch are allocated by one decision, so their waits are one number. The time of the run is
 * divided into at most {@link #INTERVALS} intervals of equal length, a power of two picoseconds.
 */
public final class LinkDetails {
    /** How many intervals there are at most. */
    public static final int INTERVALS = 128;

    /** Of a machine with more links nothing is recorded. */
    static final int LINKS_MAX = 1 << 16;

    private static final int FIRST_SHIFT = 16;

    private final int links;
    private final long[] waitPs;
    private final int[] waiting;
    private final int[] waitingMax;
    private long[] readyPs = new long[256];
    private long[] busyPs;
    private int shift = FIRST_SHIFT;
    private int used;

    LinkDetails(int links) {
        this.links = links;
        waitPs = new long[links];
        waiting = new int[links];
        waitingMax = new int[links];
        busyPs = new long[links * INTERVALS];
    }

    /** The head of a packet has been routed. */
    void arrive(long timePs, int packet, int link) {
        if (packet >= readyPs.length) {
            readyPs = Arrays.copyOf(readyPs, Math.max(packet + 1, 2 * readyPs.length));
        }
        readyPs[packet] = timePs;
        waitingMax[link] = Math.max(waitingMax[link], ++waiting[link]);
    }

    /** An output takes a packet. */
    void leave(long timePs, int packet, int link) {
        waiting[link]--;
        waitPs[link] += timePs - readyPs[packet];
    }

    /** A link is busy from now on. */
    void busy(long timePs, int link, long forPs) {
        long end = timePs + forPs;
        while (end >> shift >= INTERVALS) {
            fold();
        }
        long at = timePs;
        while (at < end) {
            int interval = (int) (at >> shift);
            long next = Math.min(end, (interval + 1L) << shift);
            busyPs[link * INTERVALS + interval] += next - at;
            used = Math.max(used, interval + 1);
            at = next;
        }
    }

    /** Intervals become twice as long. */
    private void fold() {
        shift++;
        used = (used + 1) / 2;
        for (int link = 0; link < links; link++) {
            int from = link * INTERVALS;
            for (int i = 0; i < INTERVALS / 2; i++) {
                busyPs[from + i] = busyPs[from + 2 * i] + busyPs[from + 2 * i + 1];
            }
            Arrays.fill(busyPs, from + INTERVALS / 2, from + INTERVALS, 0);
        }
    }

    /** Adds those of another partition of the same run, whose links are others. */
    public void add(LinkDetails other) {
        while (shift < other.shift) {
            fold();
        }
        while (other.shift < shift) {
            other.fold();
        }
        used = Math.max(used, other.used);
        for (int i = 0; i < busyPs.length; i++) {
            busyPs[i] += other.busyPs[i];
        }
        for (int link = 0; link < links; link++) {
            waitPs[link] += other.waitPs[link];
            waitingMax[link] = Math.max(waitingMax[link], other.waitingMax[link]);
        }
    }

    /** How long packets waited for a router's output, all together. Picoseconds. */
    public long waitPs(int link) {
        return waitPs[link];
    }

    /** The most packets that waited for a router's output at one time. */
    public int queueMax(int link) {
        return waitingMax[link];
    }

    /** How many waited on average (by Little's law) in a run that took so long. */
    public double queueMean(int link, long executionPs) {
        return waitPs[link] / (double) Math.max(1, executionPs);
    }

    /** How many intervals the run had. */
    public int intervals() {
        return used;
    }

    /** How long an interval is. Picoseconds. */
    public long intervalPs() {
        return 1L << shift;
    }

    /** How long a link was busy within an interval. Picoseconds. */
    public long busyPs(int link, int interval) {
        return busyPs[link * INTERVALS + interval];
    }
}
