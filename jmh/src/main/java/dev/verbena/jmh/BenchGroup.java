package dev.verbena.jmh;

import dev.verbena.jmh.BenchProgram.Reading;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;

/**
 * Programs whose figures are compared, and what their turns gave. A program that fails has no
 * further turn. One thread.
 */
final class BenchGroup {
    /** Figures of several rounds that differ by more, as a part of their median, are noisy. */
    static final double NOISY_SPREAD = 0.25;

    /** From the death of a program to the signal that ends this one, too. */
    static final long SIGNAL_MS = 500;

    private final String id;
    private final String title;
    private final String figure;
    private final List<BenchProgram> programs;
    private final Map<Key, Map<Integer, Double>> values = new LinkedHashMap<>();
    private final Map<String, String> failures = new LinkedHashMap<>();
    private final List<Double> lines = new ArrayList<>();
    private int moved;

    private record Key(String series, int bytes, String figure) {}

    /**
     * Without figures.
     *
     * @param id for files
     * @param figure {@link BenchProgram#LATENCY} or {@link BenchProgram#BANDWIDTH}
     */
    BenchGroup(String id, String title, String figure, List<BenchProgram> programs) {
        this.id = id;
        this.title = title;
        this.figure = figure;
        this.programs = List.copyOf(programs);
    }

    String id() {
        return id;
    }

    String title() {
        return title;
    }

    String figure() {
        return figure;
    }

    boolean isLatency() {
        return figure.equals(BenchProgram.LATENCY);
    }

    /** Programs that failed, with the reason. */
    Map<String, String> failures() {
        return failures;
    }

    /** Turns during which the host moved a processor. */
    int moved() {
        return moved;
    }

    /** Round trip of a cache line, the median of the turns; NaN before the first. */
    double lineNs() {
        return median(lines);
    }

    /**
     * Takes a turn.
     *
     * @param isEnding whether the user ends the command within so many milliseconds: no program is
     *     begun then, and one that fails may have been ended, too
     * @throws IOException if the probe fails: there is nothing to compare with
     */
    void turn(Contestant probe, int round, LongPredicate isEnding)
            throws IOException, InterruptedException {
        List<BenchProgram> sound =
                programs.stream().filter(each -> !failures.containsKey(each.name())).toList();
        List<Turn.Program<List<Reading>>> runs = new ArrayList<>();
        for (BenchProgram program : sound) {
            runs.add(() -> readings(program, isEnding));
        }
        Turn<List<Reading>> turn = Turn.take(probe, runs, round % 2 == 1);
        lines.add(turn.lineNs());
        moved += turn.isSteady() ? 0 : 1;
        for (List<Reading> readings : turn.results()) {
            readings.forEach(reading -> keep(reading, round));
        }
    }

    private List<Reading> readings(BenchProgram program, LongPredicate isEnding)
            throws InterruptedException {
        try {
            return isEnding.test(0) ? List.of() : program.run().run();
        } catch (IOException e) {
            if (!isEnding.test(SIGNAL_MS)) {
                failures.put(program.name(), e.getMessage());
            }
            return List.of();
        }
    }

    private void keep(Reading reading, int round) {
        Key key = new Key(reading.series(), reading.bytes(), reading.figure());
        values.computeIfAbsent(key, each -> new TreeMap<>()).put(round, reading.value());
    }

    /** Lines of the chart that have figures, ours first. */
    List<String> series() {
        Set<String> series = new LinkedHashSet<>();
        values.keySet().forEach(key -> series.add(key.series()));
        return List.copyOf(series);
    }

    /** Lengths that have figures, ascending. */
    List<Integer> lengths() {
        Set<Integer> lengths = new TreeSet<>();
        values.keySet().forEach(key -> lengths.add(key.bytes()));
        return List.copyOf(lengths);
    }

    /** What the rounds gave; empty where nothing was measured. */
    List<Double> samples(String series, int bytes, String of) {
        Map<Integer, Double> rounds = values.get(new Key(series, bytes, of));
        return rounds == null ? List.of() : List.copyOf(rounds.values());
    }

    /** The median over the rounds; NaN where nothing was measured. */
    double median(String series, int bytes, String of) {
        return median(samples(series, bytes, of));
    }

    /** The median of the ratios of each round in which both have a figure; NaN if none has. */
    double ratio(String ours, String other, int bytes) {
        Map<Integer, Double> mine = values.get(new Key(ours, bytes, figure));
        Map<Integer, Double> theirs = values.get(new Key(other, bytes, figure));
        List<Double> ratios = new ArrayList<>();
        if (mine != null && theirs != null) {
            mine.forEach(
                    (round, value) -> {
                        if (theirs.containsKey(round)) {
                            ratios.add(value / theirs.get(round));
                        }
                    });
        }
        return median(ratios);
    }

    /** Greatest less least, as a part of the median; NaN with fewer than two rounds. */
    double spread(String series, int bytes) {
        List<Double> samples = samples(series, bytes, figure);
        return samples.size() < 2
                ? Double.NaN
                : (Collections.max(samples) - Collections.min(samples)) / median(samples);
    }

    /** Whether the rounds differ so much that a ratio near 1 says nothing. */
    boolean isNoisy(String series, int bytes) {
        return spread(series, bytes) > NOISY_SPREAD;
    }

    /** Whether those of any program do. */
    boolean isNoisy(int bytes) {
        return series().stream().anyMatch(each -> isNoisy(each, bytes));
    }

    private static double median(List<Double> samples) {
        return samples.isEmpty()
                ? Double.NaN
                : Samples.median(samples.stream().mapToDouble(Double::doubleValue).toArray());
    }
}
