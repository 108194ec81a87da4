package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Match lists of Portals: what the search costs at depths up to 10,000 entries. All contestants are
 * rows of one C program, {@code portals-match-bench}.
 */
final class MatchComparisons {
    private static final String WHAT = "8 B put over a Portals match list, from C, ";
    private static final Pattern VALUE = Pattern.compile("\"value\":([0-9.]+)");

    private final String program;
    private final List<Comparison> comparisons = new ArrayList<>();

    private MatchComparisons(String softnicBench) {
        program = Path.of(softnicBench).resolveSibling("portals/portals-match-bench").toString();
    }

    /** The comparisons; the program lies in a folder beside softnic's. */
    static List<Comparison> of(String softnicBench) {
        MatchComparisons all = new MatchComparisons(softnicBench);
        all.add(
                "match-1",
                "to its only entry, over one that is not matched (the entry takes everything)",
                all.match("exact", 1),
                all.match("any", 1),
                Bound.AT_MOST);
        for (int depth : List.of(10, 100, 1_000, 10_000)) {
            all.add(
                    "match-" + depth,
                    "to the last of " + depth + " entries without wildcards, over depth 1",
                    all.match("exact", depth),
                    all.match("exact", 1),
                    Bound.AT_MOST);
        }
        for (int depth : List.of(100, 1_000, 10_000)) {
            all.add(
                    "match-wild-" + depth,
                    "to the last of " + depth + ", all with wildcards, over depth 1",
                    all.match("wild", depth),
                    all.match("wild", 1),
                    Bound.NONE);
        }
        all.add(
                "match-mixed",
                "to the last of 10000, one in 100 with a wildcard, over none with one",
                all.match("mixed", 10_000),
                all.match("exact", 10_000),
                Bound.NONE);
        return all.comparisons;
    }

    private void add(String id, String what, Contestant ours, Contestant other, Bound bound) {
        double limit = bound == Bound.NONE ? 0 : 1.5;
        comparisons.add(new Comparison(id, WHAT + what, "ns", ours, other, bound, limit));
    }

    private Contestant match(String kind, int depth) {
        List<String> command = List.of(program, "--kind", kind, "--depth", Integer.toString(depth));
        return new Contestant(kind + ", depth " + depth, command, Map.of(), VALUE, 1);
    }
}
