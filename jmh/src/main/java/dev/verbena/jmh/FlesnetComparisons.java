package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Timeslice building beside raw puts, and the scheduler's time for a proposal. */
final class FlesnetComparisons {
    private static final double BUILT = 0.85;
    private static final double PROPOSAL_US = 100;

    private FlesnetComparisons() {}

    /** The comparisons. */
    static List<Comparison> of() {
        return List.of(
                new Comparison(
                        "flesnet-built",
                        "components of 64 KiB from a full input ring of 64 MiB, built by one"
                                + " process over shm:// and released unread, without checksums,"
                                + " over raw puts of that length into a ring as long (1 MiB)",
                        "GB/s",
                        figure("timeslices", FlesnetFigures.class, "built", 1e-3),
                        figure("raw put", FlesnetFigures.class, "put", 1e-3),
                        Bound.AT_LEAST,
                        BUILT),
                new Comparison(
                        "flesnet-proposal",
                        "last report of an interval until 384 inputs have the next proposal, p50;"
                                + " beside it from the first report on",
                        "us",
                        figure("proposal", ProposalFigures.class, "proposal", 1),
                        figure("whole interval", ProposalFigures.class, "interval", 1),
                        Bound.OURS_AT_MOST,
                        PROPOSAL_US));
    }

    private static Contestant figure(String name, Class<?> type, String what, double scale) {
        List<String> command = new ArrayList<>(List.of("taskset", "-c", "0", Contestants.JAVA));
        command.addAll(List.of("-XX:+UseSerialGC", "-cp", Contestants.CLASS_PATH));
        command.addAll(List.of(type.getName(), what));
        Pattern number = Pattern.compile("\"value\": ([0-9.]+)");
        return new Contestant(name, command, Map.of(), number, scale);
    }
}
