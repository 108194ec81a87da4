package dev.verbena.cli.stage.experiment;

/** A thread that computes without memory traffic, and counts rounds: what others slow down. */
final class ComputeLoop implements AutoCloseable {
    private static final int STEPS_PER_ROUND = 10_000;
    private static final long ALONE_NS = 300_000_000;

    private final Thread thread = new Thread(this::run, "compute-loop");
    private volatile boolean isEnding;
    private volatile long rounds;
    private volatile double result = 0.5;

    ComputeLoop() {
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        long done = 0;
        double x = result;
        while (!isEnding) {
            for (int i = 0; i < STEPS_PER_ROUND; i++) {
                x = 3.9 * x * (1 - x);
            }
            result = x;
            rounds = ++done;
        }
    }

    /** So far. */
    long rounds() {
        return rounds;
    }

    /** Rounds per second with nothing beside it, and waiting for that. */
    static double alone() throws InterruptedException {
        try (ComputeLoop loop = new ComputeLoop()) {
            Thread.sleep(ALONE_NS / 3_000_000);
            long before = loop.rounds();
            long beginNs = System.nanoTime();
            Thread.sleep(ALONE_NS / 1_000_000);
            return (loop.rounds() - before) * 1e9 / (System.nanoTime() - beginNs);
        }
    }

    @Override
    public void close() {
        isEnding = true; // seen within a round
    }
}
