package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Html;
import dev.verbena.cli.terminal.Text;
import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.RestartFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The first page of the report: one sentence, one bar chart, and what became of the files.
 *
 * @param info what ran
 * @param staging what was staged, and what that cost
 * @param timeline when what happened
 * @param stalls what the comparison of ways of output found
 */
record PageOne(RunInfo info, StagingRecord staging, Timeline timeline, StallFigures stalls) {
    private static final List<String> COLUMNS =
            List.of(
                    "Way of output",
                    "n, outputs",
                    "Stall of an output",
                    "Computing and stall, from output to output",
                    "n, rounds",
                    "After the last output of a round, until all is stored");

    /** What a way of output is called on paper. */
    static String label(OutputMode mode) {
        return switch (mode) {
            case NONE -> "No output at all";
            case CACHED -> "Writing files, not forced";
            case FILES -> "Writing files, forced to the disk";
            case WRITER -> "Background thread, forces files";
            case ITEMS -> "Verbena, item by item";
            case WHOLE -> "Verbena, whole file at once";
        };
    }

    private static String explanation(OutputMode mode) {
        return switch (mode) {
            case NONE -> "Only a look at the clock.";
            case CACHED -> "Each process writes its file and leaves it to the kernel.";
            case FILES -> "Each process writes its file and waits until the disk has it.";
            case WRITER ->
                    "The file is packed into memory; a thread of the process writes it and waits"
                            + " until the disk has it.";
            case ITEMS ->
                    RestartFile.ITEM_COUNT
                            + " messages for each file, each waits for the one before.";
            case WHOLE -> "The file is packed into memory; a service process reads it from there.";
        };
    }

    /** Where the data are when the simulation goes on, and what then loses them. */
    private static String guarantee(OutputMode mode) {
        return switch (mode) {
            case NONE -> "Nothing is saved.";
            case CACHED ->
                    "When computing goes on, the kernel has the data in memory: the death of the"
                            + " process loses nothing, a crash of the machine what is not written"
                            + " back yet.";
            case FILES -> "When computing goes on, the disk has the data: no crash loses them.";
            case WRITER ->
                    "When computing goes on, the process has the data in its memory: its death, or"
                            + " a crash of the machine, loses what is not on the disk yet.";
            case ITEMS ->
                    "When computing goes on, service processes have all but the last items in their"
                            + " memory. The receiver confirms what its disk has.";
            case WHOLE ->
                    "When computing goes on, the process has the data in its memory: its death loses"
                            + " what no service process has read yet, a crash of the machine what is"
                            + " not on a disk yet. The receiver confirms what its disk has.";
        };
    }

    /**
     * The sentence. It compares the two ways that promise the same when computing goes on, and says
     * what was measured, whichever way that went.
     */
    String sentence() {
        StallFigures.Figure writer = stalls.of(OutputMode.WRITER);
        StallFigures.Figure whole = stalls.of(OutputMode.WHOLE);
        if (writer == null || whole == null) {
            return staging.costs().isEmpty()
                    ? "How long output stalled the simulation was not measured in this run."
                    : ("At every output, handing its files to Verbena stalled the simulation "
                                    + "for %s; other ways of output were not measured in this run.")
                            .formatted(own());
        }
        double ratio = writer.stall().mean() / Math.max(1, whole.stall().mean());
        String begin =
                ("At every output, a background thread that writes files stalled the "
                                + "simulation for %s; handing them to Verbena stalled it for %s")
                        .formatted(
                                Times.text(writer.stall().mean()),
                                Times.text(whole.stall().mean()));
        if (!whole.stall().differsFrom(writer.stall())) {
            return begin + ", which is no clear difference.";
        }
        return ratio >= 1
                ? begin + ", " + times(ratio) + " times less."
                : begin + ", " + times(1 / ratio) + " times more.";
    }

    private static String times(double ratio) {
        return Text.format(ratio < 10 ? "%.1f" : "%.0f", ratio);
    }

    /** The stalls of the outputs of the run itself. */
    private String own() {
        Spread stalls = Spread.of(staging.stallsOfOutputs(), Long::longValue);
        return "%s (mean of %s outputs, %s to %s)"
                .formatted(
                        Times.text(stalls.mean()),
                        stalls.count(),
                        Times.text(stalls.least()),
                        Times.text(stalls.most()));
    }

    String html(boolean isGood) {
        String unbroken = sentence().replace(" ms", "\u00a0ms").replace(" times", "\u00a0times");
        return Html.page(
                PageOne.class,
                "first.html",
                Map.of(
                        "sentence",
                        unbroken,
                        "bars",
                        stalls.isEmpty() ? "" : bars(),
                        "verdict",
                        isGood ? "passed" : "failed",
                        "verdictText",
                        isGood ? "All checks passed" : "Something is wrong: see the checks",
                        "outcome",
                        outcome(),
                        "standstill",
                        standstill()));
    }

    /** How the whole run went on, the killed receiver included. */
    String standstill() {
        if (staging.costs().isEmpty() || timeline.stepNs() == 0) {
            return "How steadily the simulation went on was not measured in this run.";
        }
        Timeline.Gap gap = timeline.longestGap();
        String text =
                Text.format(
                        "In the whole run, output held up the simulation for %.0f %% of the time."
                                + " The longest time without a completed step was %s (before step"
                                + " %d; a step takes %s on average).",
                        100 * staging.outputShare(),
                        Times.text(gap.lengthNs()),
                        gap.step(),
                        Times.text(timeline.stepNs()));
        return !timeline.hasOutage()
                ? text
                : text
                        + Text.format(
                                " While there was no receiver it did %d steps; at its pace before"
                                        + " it would have done %d.",
                                timeline.outageSteps(), timeline.expectedOutageSteps());
    }

    private String outcome() {
        return "%s of %s files of the whole run are there, equal to the last bit to what the"
                        .formatted(staging.equalCount(), staging.sentCount())
                + " simulation held"
                + (timeline.hasOutage()
                        ? Text.format(
                                ", although the receiving program was killed halfway and was gone"
                                        + " for %.1f s",
                                timeline.outageNs() / 1e9)
                        : "")
                + ".";
    }

    private String bars() {
        double most =
                stalls.all().stream()
                        .mapToDouble(figure -> figure.stall().mean())
                        .reduce(1, Math::max);
        return Html.page(
                PageOne.class,
                "bars.html",
                Map.of(
                        "bars",
                        stalls.all().stream()
                                .map(figure -> bar(figure.mode(), figure.stall(), most))
                                .collect(Collectors.joining()),
                        "count",
                        stalls.all().iterator().next().stall().count(),
                        "processes",
                        info.processCount()));
    }

    private static String bar(OutputMode mode, Spread stall, double most) {
        return Html.page(
                PageOne.class,
                "bar.html",
                Map.of(
                        "way", mode.word(),
                        "label", label(mode),
                        "explanation", explanation(mode),
                        "guarantee", guarantee(mode),
                        "part", Text.format("%.4f", stall.mean() / most),
                        "mean", Times.text(stall.mean()),
                        "least", Times.text(stall.least()),
                        "most", Times.text(stall.most())));
    }

    /** The section that says how the figures came about. */
    String method() {
        if (stalls.isEmpty()) {
            return "";
        }
        List<List<String>> rows = new ArrayList<>();
        for (StallFigures.Figure figure : stalls.all()) {
            boolean isStub = figure.mode() == OutputMode.NONE;
            rows.add(
                    List.of(
                            label(figure.mode()),
                            Integer.toString(figure.stall().count()),
                            figure.stall().text(),
                            figure.whole().text(),
                            isStub ? "-" : Integer.toString(figure.drain().count()),
                            isStub ? "-" : figure.drain().text()));
        }
        String ways = Html.table(" class=\"wide\" id=\"modes\"", COLUMNS, rows);
        return Html.page(PageOne.class, "method.html", Map.of("ways", ways));
    }
}
