package dev.verbena.flesnet.dfs;

/**
 * Proposes start and duration of an interval from complete ones that lie at least two before it
 * (sections 5.3, 5.4, 5.7). A proposal is computed once, in the order of intervals. One thread;
 * allocates nothing after it was made.
 */
public final class Proposer {
    /** A proposal for k uses nothing later than k minus this. */
    public static final int DISTANCE = 2;

    private static final int KEPT = 8;

    private enum Stage {
        NORMAL,
        SPEED_UP,
        STABLE
    }

    private final DfsParameters parameters;
    private final HistoryManager history;
    private final int window;
    private final long[] durations;
    private final long[] starts;
    private final long[] differences;
    private long firstProposed = -1;
    private long lastProposed = -1;
    private Stage stage = Stage.NORMAL;
    private long held;
    private long lastStable = -1;
    private long stageEnds;

    /** Of this history. */
    public Proposer(DfsParameters parameters, HistoryManager history) {
        this.parameters = parameters;
        this.history = history;
        this.window = parameters.history() + KEPT;
        this.durations = new long[window];
        this.starts = new long[window];
        this.differences = new long[parameters.history()];
    }

    /**
     * Computes the proposal for the interval {@link #DISTANCE} after the one that was completed
     * last.
     */
    public void propose() {
        long w = history.completed();
        long k = w + DISTANCE;
        long median = history.median(w, parameters.history());
        int slot = slot(k);
        starts[slot] = history.start(w) + history.duration(w) + (k - w - 1) * median;
        durations[slot] = duration(k, w, median);
        firstProposed = firstProposed < 0 ? k : firstProposed;
        lastProposed = k;
    }

    /** Compute nodes were lost: the next durations begin from the median again. */
    public void reset() {
        stage = Stage.NORMAL;
    }

    private long duration(long k, long w, long median) {
        if (parameters.speedUpPercent() == 0) {
            return median;
        }
        return parameters.staging() == Staging.PER_INTERVAL
                ? perInterval(w, median)
                : windowed(k, w, median);
    }

    private long perInterval(long w, long median) {
        return isRelaxed(w, median) ? shortened(median) : median;
    }

    private long windowed(long k, long w, long median) {
        if (stage == Stage.SPEED_UP && k >= stageEnds) {
            if (isRelaxed(w, median)) {
                lastStable = held;
                beginSpeedUp(k, median);
            } else {
                // Before a first window has passed its test nothing is known to be stable.
                stage = lastStable < 0 ? Stage.NORMAL : Stage.STABLE;
                stageEnds = k + 2L * parameters.window();
            }
        } else if (stage == Stage.STABLE && k >= stageEnds) {
            stage = Stage.NORMAL;
        }
        if (stage == Stage.NORMAL && isRelaxed(w, median)) {
            lastStable = -1;
            beginSpeedUp(k, median);
        }
        return switch (stage) {
            case NORMAL -> median;
            case SPEED_UP -> held;
            case STABLE -> lastStable;
        };
    }

    private void beginSpeedUp(long k, long median) {
        stage = Stage.SPEED_UP;
        held = shortened(median);
        stageEnds = k + parameters.window();
    }

    /** Of the median, never of an earlier proposal: otherwise it would shrink without end (E4). */
    private long shortened(long median) {
        return median - Math.floorDiv(median * parameters.speedUpPercent(), 100L);
    }

    private boolean isRelaxed(long w, long median) {
        int h = parameters.history();
        long first = w - h + 1;
        boolean isShort = firstProposed < 0 || first < firstProposed || first < history.base();
        if (isShort) {
            // The authors' code also speeds up while history is short.
            return parameters.test() == SpeedUpTest.SIGNED_MEAN;
        }
        for (int i = 0; i < h; i++) {
            long interval = first + i;
            differences[i] = history.duration(interval) - durations[slot(interval)];
        }
        return isRelaxed(
                parameters.test(), parameters.speedUpThresholdPercent(), median, differences);
    }

    /** The test of section 5.4, of measured minus proposed durations. */
    static boolean isRelaxed(
            SpeedUpTest test, int thresholdPercent, long median, long[] differences) {
        int h = differences.length;
        long sum = 0;
        long signed = 0;
        for (int i = 0; i < h; i++) {
            sum += Math.abs(differences[i]);
            signed += differences[i];
        }
        long threshold = thresholdPercent * median;
        return switch (test) {
            case MEAN_ABS -> 100 * (sum / h) <= threshold;
            case SIGNED_MEAN -> 100 * Math.max(0, signed / h) <= threshold;
            case STDDEV -> isDeviationBelow(sum / h, threshold, differences);
        };
    }

    /** 100 * sqrt(variance) <= threshold, both sides squared. */
    private static boolean isDeviationBelow(long mean, long threshold, long[] differences) {
        double variance = 0;
        for (int i = 0; i < differences.length; i++) {
            // Since Java 17 + and * of doubles give the same on every machine.
            double d = Math.abs(differences[i]) - mean;
            variance += d * d;
        }
        double limit = threshold / 100.0;
        return variance / differences.length <= limit * limit;
    }

    private int slot(long interval) {
        return (int) Math.floorMod(interval, (long) window);
    }

    /** Whether there is a proposal for this interval, and it is kept still. */
    public boolean hasProposal(long interval) {
        return firstProposed >= 0
                && interval >= firstProposed
                && interval <= lastProposed
                && lastProposed - interval < KEPT;
    }

    /** Proposed start, own time. */
    public long start(long interval) {
        return starts[slot(interval)];
    }

    /** Proposed duration. */
    public long duration(long interval) {
        return durations[slot(interval)];
    }

    /** The last interval with a proposal; -1: none. */
    public long lastProposed() {
        return lastProposed;
    }
}
