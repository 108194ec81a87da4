package dev.verbena.cli.demo.transit;

import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.StallSample;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/**
 * What the comparison of ways of output found. An output's stall is that of its slowest process:
 * the others cannot take the next step without it. Times in nanoseconds.
 */
final class StallFigures {
    private final Map<OutputMode, Figure> figures = new EnumMap<>(OutputMode.class);

    /**
     * One way of output.
     *
     * @param stall of an output
     * @param whole from one output to the end of the next: computing and stall
     * @param drain after the last output of a round, until all were safely stored
     */
    record Figure(OutputMode mode, Spread stall, Spread whole, Spread drain) {}

    StallFigures(Collection<StallSample> samples) {
        samples.stream()
                .collect(Collectors.groupingBy(StallSample::mode))
                .forEach((mode, all) -> figures.put(mode, figure(mode, outputs(all))));
    }

    private static Collection<List<StallSample>> outputs(List<StallSample> samples) {
        return samples.stream()
                .collect(Collectors.groupingBy(s -> List.of((long) s.round(), s.step())))
                .values();
    }

    private static Figure figure(OutputMode mode, Collection<List<StallSample>> outputs) {
        Spread drains =
                Spread.of(
                        outputs.stream()
                                .mapToDouble(output -> slowest(output, StallSample::drainNs))
                                .filter(drain -> drain > 0)
                                .toArray());
        return new Figure(
                mode,
                Spread.of(outputs, output -> slowest(output, StallSample::stallNs)),
                Spread.of(outputs, output -> slowest(output, s -> s.stallNs() + s.computeNs())),
                drains);
    }

    private static long slowest(List<StallSample> output, ToLongFunction<StallSample> time) {
        return output.stream().mapToLong(time).max().orElse(0);
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
