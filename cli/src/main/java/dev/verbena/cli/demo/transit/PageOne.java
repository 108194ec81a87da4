package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Html;
import dev.verbena.cli.terminal.Text;
import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.RestartFile;

/** The first page of the report: one sentence, one bar chart, and what became of the files. */
final class PageOne {
    private static final String[] COLUMNS = {
        "n, outputs",
        "Stall of an output",
        "Computing and stall, from output to output",
        "n, rounds",
        "After the last output of a round, until all is stored"
    };

    private final RunInfo info;
    private final StagingRecord staging;
    private final Timeline timeline;
    private final StallFigures stalls;

    PageOne(RunInfo info, StagingRecord staging, Timeline timeline, StallFigures stalls) {
        this.info = info;
        this.staging = staging;
        this.timeline = timeline;
        this.stalls = stalls;
    }

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
        StringBuilder out = new StringBuilder(4096);
        out.append("<header class=\"first\"><h1 id=\"sentence\">");
        String unbroken = sentence().replace(" ms", "\u00a0ms").replace(" times", "\u00a0times");
        out.append(Html.escape(unbroken)).append("</h1>\n");
        if (!stalls.isEmpty()) {
            bars(out);
        }
        out.append("<p id=\"outcome\"><span class=\"verdict ");
        out.append(isGood ? "passed" : "failed").append("\">");
        out.append(isGood ? "All checks passed" : "Something is wrong: see the checks");
        out.append("</span> ").append(Html.escape(outcome())).append("</p>\n");
        out.append("<p id=\"standstill\">").append(Html.escape(standstill())).append("</p>");
        return out.append("</header>\n").toString();
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
        StringBuilder text = new StringBuilder();
        text.append(staging.equalCount()).append(" of ").append(staging.sentCount());
        text.append(" files of the whole run are there, equal to the last bit to what the ");
        text.append("simulation held");
        if (timeline.hasOutage()) {
            text.append(
                    Text.format(
                            ", although the receiving program was killed halfway and was gone for"
                                    + " %.1f s",
                            timeline.outageNs() / 1e9));
        }
        return text.append('.').toString();
    }

    private void bars(StringBuilder out) {
        double most = 1;
        for (StallFigures.Figure figure : stalls.all()) {
            most = Math.max(most, figure.stall().mean());
        }
        out.append(
                "<table class=\"bars\" id=\"stalls\"><caption>How long each output stalled the ");
        out.append("simulation: mean, and in brackets shortest to longest. All bars begin at 0 ");
        out.append("and have one scale.</caption>");
        for (StallFigures.Figure figure : stalls.all()) {
            OutputMode mode = figure.mode();
            out.append("<tr class=\"").append(mode.word()).append("\"><th scope=\"row\">");
            out.append(label(mode)).append("<small>").append(explanation(mode)).append("</small>");
            out.append("</th><td><span class=\"bar\" aria-hidden=\"true\" style=\"--part:");
            out.append(Text.format("%.4f", figure.stall().mean() / most));
            out.append("\"></span><b>").append(Times.text(figure.stall().mean()));
            out.append("</b><span class=\"range\">(").append(Times.text(figure.stall().least()));
            out.append(" to ").append(Times.text(figure.stall().most())).append(")</span>");
            out.append("<small>").append(guarantee(mode)).append("</small></td></tr>\n");
        }
        out.append("</table>\n<p class=\"note\">n = ");
        out.append(stalls.all().iterator().next().stall().count()).append(" outputs of ");
        out.append(info.processCount()).append(" processes for each bar, for the same steps with ");
        out.append("the same data, computed anew for each. The sentence above compares the two ");
        out.append("ways that promise the same. <a href=\"#how\">How it was measured, ");
        out.append("and what else it cost</a></p>\n");
    }

    /** The section that says how the figures came about. */
    String method() {
        if (stalls.isEmpty()) {
            return "";
        }
        StringBuilder out = new StringBuilder(4096);
        out.append("<h2 id=\"how\">How the stall was measured, and what else output cost</h2>\n");
        paragraph(
                out,
                "Before the run itself, the same steps were computed again and again from the same"
                        + " state, with each way of output in turn, so that every way got the same"
                        + " bytes (checked below by their SHA-256). The ways took turns in the order"
                        + " of the chart, then in the opposite order. The first use of each is not"
                        + " counted. Before the next way began, all files of the one before were"
                        + " safely stored.");
        paragraph(
                out,
                "Stall is the time from the moment a process turns to output until it can compute"
                        + " again: putting the file together, and the calls. Of each output the"
                        + " slowest process counts, because the others cannot take the next step"
                        + " without it. Forced means fsync: the call returns when the disk has the"
                        + " data. The background thread gets as many memories as Verbena, used by"
                        + " turns; a process that finds both in use waits. The receiver also waits"
                        + " for fsync before it confirms a file; it does so while the simulation"
                        + " computes.");
        paragraph(
                out,
                "Here everything shares one machine: the service processes and the receiver take"
                        + " processor time from the simulation, which the table shows as longer"
                        + " computing. On a cluster they have nodes of their own.");
        out.append("<table class=\"wide\" id=\"modes\"><tr><th>Way of output</th>");
        for (String head : COLUMNS) {
            out.append("<th class=\"n\">").append(head).append("</th>");
        }
        out.append("</tr>");
        for (StallFigures.Figure figure : stalls.all()) {
            out.append("<tr><td>").append(label(figure.mode())).append("</td>");
            boolean isStub = figure.mode() == OutputMode.NONE;
            Html.cell(out, COLUMNS[0], Integer.toString(figure.stall().count()));
            Html.cell(out, COLUMNS[1], figure.stall().text());
            Html.cell(out, COLUMNS[2], figure.whole().text());
            Html.cell(out, COLUMNS[3], isStub ? "-" : Integer.toString(figure.drain().count()));
            Html.cell(out, COLUMNS[4], isStub ? "-" : figure.drain().text());
            out.append("</tr>\n");
        }
        return out.append(
                        "</table>\n<p class=\"note\">Mean, and in brackets shortest to longest, of n.</p>\n")
                .toString();
    }

    private static void paragraph(StringBuilder out, String text) {
        out.append("<p>").append(Html.escape(text)).append("</p>\n");
    }
}
