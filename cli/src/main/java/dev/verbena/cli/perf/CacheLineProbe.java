package dev.verbena.cli.perf;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How far apart two processors are just now: the time in which two threads hand a cache line to and
 * fro. Virtual processors move; every latency between processes moves with them, so each result is
 * tagged with this reading.
 */
final class CacheLineProbe {
    private static final int ROUND_COUNT = 100;
    private static final int BATCH_MAX = 400;
    private static final int BATCH_MIN = 8;
    private static final double NEAR_MAX_NS = 200;
    private static final long GIVE_UP_NS = 100_000_000;

    private CacheLineProbe() {}

    /**
     * A reading.
     *
     * @param roundTripNs median round trip; NaN if the two threads never ran at the same time
     */
    record Reading(double roundTripNs) {
        /** The round trip for a table. */
        String text() {
            return Double.isNaN(roundTripNs) ? "-" : String.format("%.0f", roundTripNs);
        }

        /** near, far, or unknown. */
        String tag() {
            return Double.isNaN(roundTripNs)
                    ? "unknown"
                    : roundTripNs <= NEAR_MAX_NS ? "near" : "far";
        }
    }

    /**
     * Measures; takes up to 100 ms. The lower quartile of many short batches, since on a busy
     * machine many of them are interrupted.
     */
    static Reading read() {
        AtomicInteger line = new AtomicInteger();
        Thread echo = new Thread(() -> echo(line), "cache-line-probe");
        echo.setDaemon(true);
        echo.start();
        long giveUpNs = System.nanoTime() + GIVE_UP_NS;
        double[] means = new double[BATCH_MAX];
        int count = 0;
        int value = 0;
        while (count < BATCH_MAX && System.nanoTime() - giveUpNs < 0) {
            long begin = System.nanoTime();
            for (int i = 0; i < ROUND_COUNT; i++) {
                value += 2;
                line.setRelease(value - 1);
                while (line.getAcquire() != value) {
                    Thread.onSpinWait();
                }
            }
            means[count++] = (System.nanoTime() - begin) / (double) ROUND_COUNT;
        }
        line.setRelease(-1);
        java.util.Arrays.sort(means, 0, count);
        return new Reading(count < BATCH_MIN ? Double.NaN : means[count / 4]);
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
