package dev.verbena.examples.transit;

import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.StallSample;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the comparison of ways of output found. An output's stall is that of its slowest process:
 * the others cannot take the next step without it. Times in nanoseconds.
 */
final class StallFigures {
    private final Map<OutputMode, Figure> figures = new EnumMap<>(OutputMode.class);

    /**
     * One way of output.
     *
     * @param outputCount outputs measured
     * @param meanNs mean stall of an output
     * @param leastNs shortest
     * @param mostNs longest
     * @param wholeNs mean time from one output to the end of the next: computing and stall
     * @param drainNs mean time after the last output of a round, until all were safely stored
     */
    record Figure(
            OutputMode mode,
            int outputCount,
            double meanNs,
            double leastNs,
            double mostNs,
            double wholeNs,
            double drainNs) {}

    StallFigures(Collection<StallSample> samples) {
        for (OutputMode mode : OutputMode.values()) {
            Map<List<Long>, List<StallSample>> outputs = new LinkedHashMap<>();
            for (StallSample sample : samples) {
                if (sample.mode() == mode) {
                    List<Long> key = List.of((long) sample.round(), sample.step());
                    outputs.computeIfAbsent(key, k -> new ArrayList<>()).add(sample);
                }
            }
            if (!outputs.isEmpty()) {
                figures.put(mode, figure(mode, outputs.values()));
            }
        }
    }

    private static Figure figure(OutputMode mode, Collection<List<StallSample>> outputs) {
        double sum = 0;
        double least = Double.POSITIVE_INFINITY;
        double most = 0;
        double whole = 0;
        double drains = 0;
        int drainCount = 0;
        for (List<StallSample> output : outputs) {
            double stall = output.stream().mapToLong(StallSample::stallNs).max().orElse(0);
            sum += stall;
            least = Math.min(least, stall);
            most = Math.max(most, stall);
            whole += output.stream().mapToLong(s -> s.stallNs() + s.computeNs()).max().orElse(0);
            double drain = output.stream().mapToLong(StallSample::drainNs).max().orElse(0);
            drains += drain;
            drainCount += drain > 0 ? 1 : 0;
        }
        int count = outputs.size();
        return new Figure(
                mode,
                count,
                sum / count,
                least,
                most,
                whole / count,
                drains / Math.max(1, drainCount));
    }

    /** Null if this way was not measured. */
    Figure of(OutputMode mode) {
        return figures.get(mode);
    }

    /** True if nothing was compared. */
    boolean isEmpty() {
        return figures.isEmpty();
    }

    /** In the order of {@link OutputMode}. */
    Collection<Figure> all() {
        return figures.values();
    }
}
