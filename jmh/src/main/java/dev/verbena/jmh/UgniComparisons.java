package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * uGNI's posts and messages beside the software NIC's own puts and beside plain copies. All
 * contestants are sides of one C program, {@code ugni-bench}: the same memory, mapped by both, and
 * the same two threads, each of which owns a NIC handle.
 */
final class UgniComparisons {
    private static final Pattern VALUE = Pattern.compile("\"value\":([0-9.]+)");

    private final String program;
    private final List<Comparison> comparisons = new ArrayList<>();

    private UgniComparisons(String softnicBench) {
        program = Path.of(softnicBench).resolveSibling("ugni/ugni-bench").toString();
        addPuts();
        addLarge();
        addMessages();
    }

    /** The comparisons; the program lies in a folder beside softnic's. */
    static List<Comparison> of(String softnicBench) {
        return new UgniComparisons(softnicBench).comparisons;
    }

    private void addPuts() {
        String put = "8 B FMA put from C, ";
        String own = " over the software NIC's own put";
        add(
                "fma-put-8",
                put + "its event fetched, seen by a polling peer, there and back," + own,
                "ns",
                side("fma-ping"),
                side("raw-ping"),
                Bound.AT_MOST,
                1.25);
        add(
                "fma-post-8",
                put + "one after the other without events, processor time," + own,
                "ns",
                side("fma-silent"),
                side("raw-put"),
                Bound.AT_MOST,
                1.25);
        add(
                "fma-event-8",
                put + "the same, each with its event fetched and its descriptor asked for," + own,
                "ns",
                side("fma-put"),
                side("raw-put"),
                Bound.NONE,
                0);
    }

    private void addLarge() {
        Contestant put = side("bte-put");
        Contestant get = side("bte-get");
        large("bte-put-4m", "4 MiB BTE put from C over memcpy", put, side("memcpy"), 0.9);
        large("bte-get-4m", "4 MiB BTE get from C over memcpy", get, side("memcpy"), 0.9);
        large("bte-get-put", "4 MiB BTE get from C over BTE put", get, put, 0.95);
        large("bte-put-get", "4 MiB BTE put from C over BTE get", put, get, 0.95);
    }

    private void large(String id, String what, Contestant ours, Contestant other, double limit) {
        add(id, what, "GB/s", ours, other, Bound.AT_LEAST, limit);
    }

    private void addMessages() {
        add(
                "smsg-pingpong",
                "8 B SMSG from C, there and back, over the software NIC's own put",
                "ns",
                side("smsg-ping"),
                side("raw-ping"),
                Bound.AT_MOST,
                2);
        add(
                "smsg-rate",
                "8 B SMSG from C from one thread to another, beside the hand-over of as many"
                        + " cache lines",
                "M/s",
                side("smsg-rate"),
                side("line-rate"),
                Bound.OURS_AT_LEAST,
                1);
    }

    private void add(
            String id,
            String what,
            String unit,
            Contestant ours,
            Contestant other,
            Bound bound,
            double limit) {
        comparisons.add(new Comparison(id, what, unit, ours, other, bound, limit));
    }

    private Contestant side(String name) {
        List<String> command = List.of(program, "--what", name, "--seconds", "0.5");
        return new Contestant("ugni-bench " + name, command, Map.of(), VALUE, 1);
    }
}
