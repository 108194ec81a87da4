package dev.verbena.nsim.dart;

import java.util.SplittableRandom;

/** A small service, drawn from a seed. */
record DartShape(
        int servers,
        int nodes,
        int messages,
        int length,
        int buffers,
        int bufferSize,
        int inFlight,
        boolean isDurable,
        boolean isReassigned,
        long computeNs,
        boolean isClockWrong,
        int credits) {
    private static final int CREDITS_MAX = 8;

    static DartShape of(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int bufferSize = 4096 << random.nextInt(3);
        return new DartShape(
                1 + random.nextInt(3),
                1 + random.nextInt(4),
                1 + random.nextInt(6),
                random.nextInt(random.nextBoolean() ? 100 : 3 * bufferSize),
                2 + random.nextInt(3),
                bufferSize,
                1 << random.nextInt(3),
                random.nextInt(3) == 0,
                random.nextInt(3) == 0,
                random.nextLong(random.nextBoolean() ? 1_000_000L : 100_000_000L),
                random.nextBoolean(),
                1 + random.nextInt(CREDITS_MAX));
    }

    /** A smaller one of the same kind. */
    DartShape with(int servers, int nodes, int messages) {
        return new DartShape(
                servers,
                nodes,
                messages,
                length,
                buffers,
                bufferSize,
                inFlight,
                isDurable,
                isReassigned,
                computeNs,
                isClockWrong,
                credits);
    }
}
