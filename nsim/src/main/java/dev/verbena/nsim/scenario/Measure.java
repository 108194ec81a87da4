package dev.verbena.nsim.scenario;

import dev.verbena.nsim.SimulationResult;
import java.util.Locale;

/** What a person wants to know of a run. */
public enum Measure {
    /** How long a barrier takes. */
    BARRIER("barrier time", "us", "the barrier takes %.4f us"),
    /** What a process sends. */
    BANDWIDTH(
            "sent", "GB/s per process", "%.4f GB/s per process sent, %.4f GB/s sent and received"),
    /** How long it takes, and computing. */
    TIME("time", "ms", "%.4f ms, of it %.4f ms computing where that takes longest"),
    /** How long it computes where that takes longest. */
    COMPUTING("time", "ms", "%.4f ms computing where that takes longest"),
    /** The rest of the time. */
    COMMUNICATING(
            "time", "ms", "%.4f ms besides computing, which takes %.4f ms where it takes longest");

    private final String title;
    private final String unit;
    private final String text;

    Measure(String title, String unit, String text) {
        this.title = title;
        this.unit = unit;
        this.text = text;
    }

    /** The unit of {@link #of}. */
    public String unit() {
        return unit;
    }

    /** What an axis says: a word and the unit. */
    public String axis() {
        return title + ", " + unit;
    }

    /** The figure. */
    public double of(SimulationResult result) {
        return switch (this) {
            case BARRIER -> result.executionPs() / 1e6;
            case BANDWIDTH -> result.bandwidthPerProcess();
            case COMPUTING -> longestComputationMs(result);
            case COMMUNICATING -> result.executionPs() / 1e9 - longestComputationMs(result);
            default -> result.executionPs() / 1e9;
        };
    }

    /** One line. */
    public String line(SimulationResult result) {
        double second =
                this == BANDWIDTH ? 2 * result.bandwidthPerProcess() : longestComputationMs(result);
        return String.format(Locale.ROOT, text, of(result), second);
    }

    private static double longestComputationMs(SimulationResult result) {
        long longest = 0;
        for (int rank = 0; rank < result.processes(); rank++) {
            longest = Math.max(longest, result.computePs(rank));
        }
        return longest / 1e9;
    }
}
