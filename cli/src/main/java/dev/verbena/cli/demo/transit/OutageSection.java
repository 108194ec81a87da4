package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.Html;
import dev.verbena.cli.terminal.Text;
import java.util.List;

/**
 * The report's section about the receiver that was killed.
 *
 * @param staging what was staged, and what that cost
 * @param timeline when what happened
 */
record OutageSection(StagingRecord staging, Timeline timeline) {
    String html() {
        List<Timeline.Event> steps = timeline.all(Timeline.STEP);
        List<StagingRecord.Arrival> arrivals = staging.arrivals();
        if (steps.isEmpty() || arrivals.isEmpty()) {
            return "";
        }
        StringBuilder out = new StringBuilder(8192);
        out.append("<h2 id=\"outage\">");
        out.append(timeline.hasOutage() ? "The receiver was killed" : "The run in time");
        out.append("</h2>\n<p>")
                .append(Html.escape(text()))
                .append("</p>\n<div class=\"card time\">");
        out.append(chart(steps, arrivals).svg()).append("</div>\n");
        return out.toString();
    }

    private String text() {
        if (!timeline.hasOutage()) {
            return "Steps that the simulation did, and files that the receiver stored.";
        }
        return Text.format(
                "In the middle of the run the receiver, process %d, was ended with kill -9: no"
                        + " warning, no chance to save anything. It was gone for %.1f s (shaded)."
                        + " The simulation did %d steps in that time, where it would have done %d at"
                        + " its pace before; the longest time without a step in the whole run was"
                        + " %s. Its files waited in the memory of the service processes, and on"
                        + " their disk when that was full. A new receiver, process %d, looked into"
                        + " its folder, said how far it had come, and got the rest.",
                timeline.first(Timeline.KILLED).value(),
                timeline.outageNs() / 1e9,
                timeline.outageSteps(),
                timeline.expectedOutageSteps(),
                Times.text(timeline.longestGap().lengthNs()),
                timeline.first(Timeline.BACK).value());
    }

    private Chart chart(List<Timeline.Event> steps, List<StagingRecord.Arrival> arrivals) {
        long zero = steps.get(0).timeNs();
        double[] stepTimes = new double[steps.size()];
        double[] stepParts = new double[steps.size()];
        double from = steps.get(0).value() - 1.0;
        double last = steps.get(steps.size() - 1).value() - from;
        for (int i = 0; i < stepTimes.length; i++) {
            stepTimes[i] = (steps.get(i).timeNs() - zero) / 1e9;
            stepParts[i] = 100 * (steps.get(i).value() - from) / last;
        }
        double[] fileTimes = new double[arrivals.size()];
        double[] fileParts = new double[arrivals.size()];
        long[] sorted = arrivals.stream().mapToLong(a -> a.timeNs()).sorted().toArray();
        for (int i = 0; i < sorted.length; i++) {
            fileTimes[i] = (sorted[i] - zero) / 1e9;
            fileParts[i] = 100.0 * (i + 1) / sorted.length;
        }
        Chart chart =
                new Chart(
                                "Steps done and files stored over time",
                                "seconds since the first step",
                                "part of all, percent",
                                false)
                        .line("steps done", "three", stepTimes, stepParts, false)
                        .line("files stored", "one", fileTimes, fileParts, true);
        if (timeline.hasOutage()) {
            chart.band(
                    (timeline.first(Timeline.KILLED).timeNs() - zero) / 1e9,
                    (timeline.first(Timeline.BACK).timeNs() - zero) / 1e9);
        }
        return chart;
    }
}
