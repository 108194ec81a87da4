package dev.verbena.jmh;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * One figure of ours beside one of another program, in interleaved pairs. Virtual cores are moved
 * by the host between neighbouring and distant placement, and every latency with them; so the
 * cache-line round trip is measured before and after each pair, pairs during which the placement
 * changed are dropped, and ratios are given per placement.
 */
final class Comparison {
    /** What is bounded: the ratio of ours to the other, or ours by itself where cores are near. */
    enum Bound {
        AT_MOST("at most "),
        AT_LEAST("at least "),
        OURS_AT_LEAST("ours at least "),

        /** Ours by itself, wherever cores are. */
        OURS_AT_MOST("ours at most "),

        /** A figure without a target. */
        NONE("-");

        private final String words;

        Bound(String words) {
            this.words = words;
        }

        /** Of a target, which begins with a bound's words. */
        static Bound of(String target) {
            return Arrays.stream(values())
                    .filter(each -> target.startsWith(each.words))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(target));
        }

        /** The number in such a target. */
        double limit(String target) {
            return this == NONE ? 0 : Double.parseDouble(target.substring(words.length()));
        }
    }

    final String id;
    final String sentence;
    final String unit;
    final Contestant ours;
    final Bound bound;
    final double limit;

    /** The same program with each of its settings that may be the best; one of them is compared. */
    private final List<Contestant> candidates;

    private Contestant other;

    /** A verdict needs as many pairs with one placement. */
    static final int VERDICT_PAIRS = 10;

    /** No verdict where more than one pair of so many failed. */
    private static final int FAILED_ONE_OF = 10;

    /** Samples of each of the other's settings. */
    private static final int CHOICE_SAMPLES = 3;

    /** Ours, the other, and the cache line's round trip beside them. */
    private final List<double[]> near = new ArrayList<>();

    private final List<double[]> far = new ArrayList<>();
    private int dropped;
    private int failed;
    private String failure = "";

    /** With the best of several settings of the other; {@link #choose} finds which that is. */
    Comparison(
            String id,
            String sentence,
            String unit,
            Contestant ours,
            List<Contestant> candidates,
            Bound bound,
            double limit) {
        this.id = id;
        this.sentence = sentence;
        this.unit = unit;
        this.ours = ours;
        this.candidates = List.copyOf(candidates);
        this.other = candidates.get(0);
        this.bound = bound;
        this.limit = limit;
    }

    /** Lets the other have the settings whose median of a few samples is the best here and now. */
    void choose() throws InterruptedException {
        if (candidates.size() < 2) {
            return;
        }
        try {
            boolean isLess = unit.equals("ns") || unit.equals("us");
            other = candidates.get(Contestants.best(candidates, CHOICE_SAMPLES, isLess));
        } catch (IOException e) {
            failure = e.getMessage();
        }
    }

    /** Whether this is its name, or the word for all between two hosts. */
    boolean isNamed(String name) {
        return id.equals(name) || name.equals("ofi") && id.startsWith("ofi-");
    }

    /** Whether one of the two runs this program. */
    boolean needs(String program) {
        return ours.commandLine().contains(program) || other.commandLine().contains(program);
    }

    /** A row of the page's table of settings: how each side was run. */
    String settings() {
        return String.format(
                "| %s | `%s` | `%s` |", id, cell(ours.commandLine()), cell(other.commandLine()));
    }

    private static String cell(String text) {
        return text.replace('\n', ' ').replace("|", "\\|");
    }

    /** Takes one pair; the order of the two alternates. */
    void takePair(Contestant probe, boolean oursFirst) throws InterruptedException {
        try {
            Turn<Double> turn = Turn.take(probe, List.of(ours::sample, other::sample), !oursFirst);
            if (!turn.isSteady()) {
                dropped++;
                return;
            }
            List<Double> results = turn.results();
            double[] pair = {results.get(0), results.get(1), turn.lineNs()};
            (turn.isNear() ? near : far).add(pair);
        } catch (IOException e) {
            failed++;
            failure = e.getMessage();
        }
    }

    int pairs() {
        return near.size() + far.size();
    }

    String failure() {
        return failure;
    }

    /** How many pairs failed, and the last reason; empty if none did. */
    String told() {
        return failed == 0
                ? ""
                : "%s: %s of %s pairs failed, the last: %s"
                        .formatted(id, failed, pairs() + dropped + failed, failure);
    }

    /** Rows of the report's table, one for each placement seen. */
    List<String> rows() {
        List<String> rows = new ArrayList<>();
        addRow(rows, "near", near);
        addRow(rows, "far", far);
        if (rows.isEmpty()) {
            rows.add(
                    String.format(
                            "| %s | %s | - | - | - | - | %s | not measured: %s |",
                            id, sentence, target(), shorten(failure)));
        }
        return rows;
    }

    private void addRow(List<String> rows, String placement, List<double[]> pairs) {
        if (pairs.isEmpty()) {
            return;
        }
        double oursMedian = median(pairs, 0);
        double otherMedian = median(pairs, 1);
        double ratio = oursMedian / otherMedian;
        rows.add(
                String.format(
                        Locale.ROOT,
                        "| %s | %s | %s (%.0f ns), %d pairs%s | %.3f %s | %.3f %s (%s) | %.2f | %s | %s |",
                        id,
                        sentence,
                        placement,
                        median(pairs, 2),
                        pairs.size(),
                        rows.isEmpty() ? withoutPlacement() : "",
                        oursMedian,
                        unit,
                        otherMedian,
                        unit,
                        other.name(),
                        ratio,
                        target(),
                        verdict(placement, pairs.size(), oursMedian, ratio)));
    }

    /** Pairs that belong to no row; said in the first. */
    private String withoutPlacement() {
        return ", " + dropped + " dropped" + (failed == 0 ? "" : ", " + failed + " failed");
    }

    private String target() {
        return switch (bound) {
            case AT_MOST, AT_LEAST -> bound.words + limit;
            case OURS_AT_LEAST -> bound.words + limit + " " + unit + " near";
            case OURS_AT_MOST -> bound.words + limit + " " + unit;
            case NONE -> bound.words;
        };
    }

    private String verdict(String placement, int count, double oursMedian, double ratio) {
        if (count < VERDICT_PAIRS) {
            return "too few pairs";
        }
        if (failed * FAILED_ONE_OF > pairs() + dropped + failed) {
            return "too many pairs failed";
        }
        if (bound == Bound.NONE) {
            return "";
        }
        boolean isMet =
                switch (bound) {
                    case AT_MOST -> ratio <= limit;
                    case AT_LEAST -> ratio >= limit;
                    case OURS_AT_LEAST -> oursMedian >= limit;
                    case OURS_AT_MOST -> oursMedian <= limit;
                    case NONE -> true;
                };
        if (!isMet && bound == Bound.OURS_AT_LEAST && placement.equals("far")) {
            return "far: no target";
        }
        return isMet ? "met" : "**missed**";
    }

    private static String shorten(String text) {
        String line = text.replace('\n', ' ').replace('|', '/');
        return line.length() > 160 ? line.substring(0, 160) + "..." : line;
    }

    private static double median(List<double[]> pairs, int side) {
        return Samples.median(pairs.stream().mapToDouble(pair -> pair[side]).toArray());
    }
}
