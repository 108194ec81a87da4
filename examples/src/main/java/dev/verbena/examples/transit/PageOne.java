package dev.verbena.examples.transit;

import dev.verbena.examples.pic.OutputMode;
import dev.verbena.examples.pic.RestartFile;
import java.util.Locale;

/** The first page of the report: one sentence, one bar chart, and what became of the files. */
final class PageOne {
    private static final double MS = 1e6;

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
            case FILES -> "Writing files";
            case ITEMS -> "Verbena, item by item";
            case WHOLE -> "Verbena, whole file at once";
        };
    }

    private static String explanation(OutputMode mode) {
        return switch (mode) {
            case NONE -> "only a look at the clock";
            case FILES -> "each process writes its file and waits until the disk has it";
            case ITEMS ->
                    RestartFile.ITEM_COUNT
                            + " messages for each file, each waits for the one before";
            case WHOLE ->
                    "the file is packed into memory and read from there while computing"
                            + " goes on";
        };
    }

    /** The sentence. It says what was measured, whichever way that went. */
    String sentence() {
        StallFigures.Figure files = stalls.of(OutputMode.FILES);
        StallFigures.Figure whole = stalls.of(OutputMode.WHOLE);
        if (files == null || whole == null) {
            return staging.costs().isEmpty()
                    ? "How long output stalled the simulation was not measured in this run."
                    : "At every output, handing its files to Verbena stalled the simulation for "
                            + time(ownStallNs())
                            + "; writing files was not measured in this run.";
        }
        double ratio = files.meanNs() / Math.max(1, whole.meanNs());
        String begin =
                "At every output, writing files stalled the simulation for "
                        + time(files.meanNs())
                        + "; handing them to Verbena stalled it for "
                        + time(whole.meanNs());
        return ratio >= 1.05
                ? begin + ", " + times(ratio) + " times less."
                : ratio > 0.95
                        ? begin + ", which is the same."
                        : begin + ", " + times(1 / ratio) + " times more.";
    }

    private static String times(double ratio) {
        return String.format(Locale.ROOT, ratio < 10 ? "%.1f" : "%.0f", ratio);
    }

    /** Mean over the outputs of the run itself of the slowest process' stall. */
    private double ownStallNs() {
        java.util.Map<Long, Long> slowest = new java.util.HashMap<>();
        staging.costs().forEach(c -> slowest.merge(c.step(), c.stallNs(), Math::max));
        return slowest.values().stream().mapToLong(Long::longValue).average().orElse(0);
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
        out.append("</span> ").append(Html.escape(outcome())).append("</p></header>\n");
        return out.toString();
    }

    private String outcome() {
        StringBuilder text = new StringBuilder();
        text.append(staging.equalCount()).append(" of ").append(staging.sentCount());
        text.append(" files of the whole run are there, equal to the last bit to what the ");
        text.append("simulation held");
        if (timeline.hasOutage()) {
            text.append(
                    String.format(
                            Locale.ROOT,
                            ", although the receiving program was killed halfway and was gone for"
                                    + " %.1f s. The simulation went on: it did %d steps meanwhile",
                            timeline.outageNs() / 1e9,
                            timeline.outageSteps()));
        }
        return text.append('.').toString();
    }

    private void bars(StringBuilder out) {
        double most = 1;
        for (StallFigures.Figure figure : stalls.all()) {
            most = Math.max(most, figure.meanNs());
        }
        out.append(
                "<table class=\"bars\" id=\"stalls\"><caption>How long each output stalled the ");
        out.append("simulation, in milliseconds</caption>");
        for (StallFigures.Figure figure : stalls.all()) {
            OutputMode mode = figure.mode();
            out.append("<tr class=\"").append(mode.word()).append("\"><th scope=\"row\">");
            out.append(label(mode)).append("<small>").append(explanation(mode));
            out.append("</small></th><td><span class=\"bar\" aria-hidden=\"true\" style=\"--part:");
            out.append(String.format(Locale.ROOT, "%.4f", figure.meanNs() / most));
            out.append("\"></span><b>").append(time(figure.meanNs())).append("</b><small>");
            out.append(number(figure.leastNs() / MS)).append(" to ");
            out.append(number(figure.mostNs() / MS)).append("</small></td></tr>\n");
        }
        out.append("</table>\n<p class=\"note\">Mean, shortest and longest of ");
        out.append(stalls.of(OutputMode.FILES).outputCount()).append(" outputs of ");
        out.append(info.processCount()).append(" processes. Every bar is for the same steps with ");
        out.append("the same data, computed anew for each. <a href=\"#how\">How it was measured, ");
        out.append("and what else it cost</a></p>\n");
    }

    static String number(double ms) {
        return String.format(Locale.ROOT, ms < 0.01 ? "%.4f" : ms < 10 ? "%.2f" : "%.0f", ms);
    }

    /** Milliseconds, or seconds if there are many, for people. */
    static String time(double ns) {
        return ns >= 10e9
                ? String.format(Locale.ROOT, "%.1f s", ns / 1e9)
                : number(ns / MS) + " ms";
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
                        + " without it. Writing files means write, then fsync: the call returns when"
                        + " the disk has the data. Without fsync the call would return when the data"
                        + " are in the kernel's memory (the page cache), which is quicker, and a"
                        + " crash would lose them. The receiver also waits for fsync before it"
                        + " confirms a file; it does so while the simulation computes.");
        paragraph(
                out,
                "Here everything shares one machine: the service processes and the receiver take"
                        + " processor time from the simulation, which the table shows as longer"
                        + " computing. On a cluster they have nodes of their own.");
        out.append("<div class=\"scroll\"><table id=\"modes\"><tr><th>Way of output</th>");
        out.append("<th class=\"n\">Stall of an output, mean</th><th class=\"n\">shortest</th>");
        out.append("<th class=\"n\">longest</th><th class=\"n\">Computing and stall, from output ");
        out.append("to output</th><th class=\"n\">After the last output, until all is stored</th>");
        out.append("</tr>");
        for (StallFigures.Figure figure : stalls.all()) {
            out.append("<tr><td>").append(label(figure.mode())).append("</td>");
            cell(out, figure.meanNs());
            cell(out, figure.leastNs());
            cell(out, figure.mostNs());
            cell(out, figure.wholeNs());
            cell(out, figure.mode() == OutputMode.NONE ? 0 : figure.drainNs());
            out.append("</tr>\n");
        }
        return out.append("</table></div>\n").toString();
    }

    private static void cell(StringBuilder out, double ns) {
        out.append("<td class=\"n\">").append(time(ns)).append("</td>");
    }

    private static void paragraph(StringBuilder out, String text) {
        out.append("<p>").append(Html.escape(text)).append("</p>\n");
    }
}
