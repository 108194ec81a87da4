package dev.verbena.jmh.peers;

import java.util.Arrays;
import java.util.Locale;
import org.HdrHistogram.Histogram;

/**
 * A ping-pong by one thread. Batches warm up, then batches are timed as wholes, then every round
 * trip by itself, for the percentiles.
 */
final class PingPong {
    private static final int PASSES = 3;
    private static final long LONGEST_NS = 10_000_000_000L;

    private final int batches;
    private final int batch;

    /** Of so many batches of so many round trips, three times. */
    PingPong(int batches, int batch) {
        this.batches = batches;
        this.batch = batch;
    }

    /** One round trip. */
    interface RoundTrip {
        /** There and back. */
        void run() throws Exception;
    }

    /** Round trips that {@link #measure} makes: so many the other side has to answer. */
    long roundTrips() {
        return (long) PASSES * batches * batch;
    }

    /**
     * Prints one JSON line: half the median of batches, and percentiles of halves. Corrected: a
     * late round trip also counts for those that a steady load would have begun meanwhile.
     */
    void measure(String name, int bytes, RoundTrip roundTrip) throws Exception {
        timeBatches(roundTrip);
        double halfNs = timeBatches(roundTrip);
        Histogram histogram = new Histogram(LONGEST_NS, 3);
        for (long i = (long) batches * batch; i > 0; i--) {
            long begin = System.nanoTime();
            roundTrip.run();
            histogram.recordValue(Math.min(LONGEST_NS, (System.nanoTime() - begin) / 2));
        }
        long expectedNs = Math.max(1, histogram.getValueAtPercentile(50));
        Histogram corrected = histogram.copyCorrectedForCoordinatedOmission(expectedNs);
        System.out.printf(
                Locale.ROOT,
                "{\"name\":\"%s\",\"bytes\":%d,\"us\":%.4f,\"p50Ns\":%d,\"p999Ns\":%d,"
                        + "\"p999CorrectedNs\":%d}%n",
                name,
                bytes,
                halfNs / 1e3,
                histogram.getValueAtPercentile(50),
                histogram.getValueAtPercentile(99.9),
                corrected.getValueAtPercentile(99.9));
        System.out.flush();
    }

    private double timeBatches(RoundTrip roundTrip) throws Exception {
        double[] halves = new double[batches];
        for (int i = 0; i < batches; i++) {
            long begin = System.nanoTime();
            for (int k = 0; k < batch; k++) {
                roundTrip.run();
            }
            halves[i] = (System.nanoTime() - begin) / (2.0 * batch);
        }
        Arrays.sort(halves);
        return halves[batches / 2];
    }
}
