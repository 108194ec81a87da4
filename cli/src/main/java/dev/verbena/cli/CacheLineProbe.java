package dev.verbena.cli;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How far apart two processors are just now: the time in which two threads hand a cache line to and
 * fro. Virtual processors move; every latency between processes moves with them, so each result is
 * tagged with this reading.
 */
final class CacheLineProbe {
    private static final int ROUND_COUNT = 4_000;
    private static final int BATCH_COUNT = 9;
    private static final double NEAR_MAX_NS = 180;
    private static final long GIVE_UP_NS = 200_000_000;

    private CacheLineProbe() {}

    /**
     * A reading.
     *
     * @param roundTripNs median round trip; NaN if the two threads never ran at the same time
     */
    record Reading(double roundTripNs) {
        /** near, far, or unknown. */
        String tag() {
            return Double.isNaN(roundTripNs)
                    ? "unknown"
                    : roundTripNs <= NEAR_MAX_NS ? "near" : "far";
        }
    }

    /** Measures; takes some milliseconds. */
    static Reading read() {
        AtomicInteger line = new AtomicInteger();
        Thread echo = new Thread(() -> echo(line), "cache-line-probe");
        echo.setDaemon(true);
        echo.start();
        long giveUpNs = System.nanoTime() + GIVE_UP_NS;
        double[] means = new double[BATCH_COUNT];
        int value = 0;
        for (int batch = 0; batch < BATCH_COUNT; batch++) {
            long begin = System.nanoTime();
            for (int i = 0; i < ROUND_COUNT; i++) {
                value += 2;
                line.setRelease(value - 1);
                while (line.getAcquire() != value) {
                    if (System.nanoTime() - giveUpNs > 0) {
                        line.setRelease(-1);
                        return new Reading(Double.NaN);
                    }
                }
            }
            means[batch] = (System.nanoTime() - begin) / (double) ROUND_COUNT;
        }
        line.setRelease(-1);
        java.util.Arrays.sort(means);
        return new Reading(means[BATCH_COUNT / 2]);
    }

    private static void echo(AtomicInteger line) {
        int seen = 0;
        while (true) {
            int value = line.getAcquire();
            if (value < 0) {
                return;
            }
            if (value != seen && (value & 1) == 1) {
                seen = value + 1;
                line.setRelease(seen);
            }
            Thread.onSpinWait();
        }
    }
}
