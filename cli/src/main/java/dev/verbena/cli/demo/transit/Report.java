package dev.verbena.cli.demo.transit;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.Html;
import dev.verbena.cli.terminal.Text;
import dev.verbena.examples.pic.GrowthFit;
import dev.verbena.examples.pic.PicSample;
import dev.verbena.examples.pic.TwoStreamTheory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** The report of a run: {@code report.html} for people, {@code summary.json} for programs. */
public final class Report {
    private static final int STRIP_COUNT = 8;
    private static final String TIME = "time, in 1 / plasma frequency";
    private static final String ENERGY = "energy, in units of the simulation";

    private static final String[] COST_COLUMNS = {
        "n, files", "Messages", "Data", "th", "tw", "tt", "Stall", "Share"
    };

    private final RunInfo info;
    private final RunAnalysis analysis;
    private final StagingRecord staging;
    private final Timeline timeline;
    private final StallFigures stalls;
    private final List<Check> checks;
    private final List<RunAnalysis.Frame> frames;
    private final StringBuilder out = new StringBuilder(1 << 20);

    /** A report of these; the analysis must be complete. */
    public Report(
            RunInfo info,
            RunAnalysis analysis,
            StagingRecord staging,
            Timeline timeline,
            List<Check> checks) {
        this.info = info;
        this.analysis = analysis;
        this.staging = staging;
        this.timeline = timeline;
        this.stalls = new StallFigures(staging.stalls());
        this.checks = new ArrayList<>(checks);
        if (timeline.first(Timeline.KILLED) != null) {
            this.checks.add(timeline.check());
        }
        this.frames = analysis.frames();
    }

    /** What was checked, this report's own check of the time line included. */
    public List<Check> checks() {
        return List.copyOf(checks);
    }

    /** The sentence that the report begins with. */
    public String sentence() {
        return new PageOne(info, staging, timeline, stalls).sentence();
    }

    /** True if no check failed. */
    public boolean isGood() {
        return checks.stream().noneMatch(check -> check.outcome() == Check.Outcome.FAILED);
    }

    /**
     * Writes both files into a folder; each appears whole.
     *
     * @throws UncheckedIOException naming the file that cannot be written
     */
    public void write(Path folder) {
        write(folder.resolve("report.html"), html());
        Summary summary = new Summary(info, analysis, staging, timeline, stalls, checks);
        write(folder.resolve("summary.json"), summary.json());
    }

    static void write(Path path, String text) {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.writeString(fresh, text);
            Files.move(fresh, path, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write " + path + ": " + e.getMessage(), e);
        }
    }

    private String html() {
        out.append("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
        out.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
        out.append("<title>What Verbena saves a simulation</title><style>");
        out.append(Html.resource(Html.class, "report.css")).append("</style></head><body><main>\n");
        PageOne first = new PageOne(info, staging, timeline, stalls);
        out.append(first.html(isGood()));
        head();
        out.append(new OutageSection(staging, timeline).html());
        out.append(first.method());
        if (!frames.isEmpty()) {
            phaseSpace();
            physics();
        }
        stagingCharts();
        tables();
        out.append("</main>\n");
        if (!frames.isEmpty()) {
            script();
        }
        return out.append("</body></html>\n").toString();
    }

    private void head() {
        out.append("<h2>What ran</h2>\n<p class=\"lead\" id=\"lead\">");
        out.append(Html.escape(lead())).append("</p>\n");
        out.append(Roles.html(info)).append("<div class=\"figures\">");
        figure(Integer.toString(staging.arrivals().size()), "restart files stored and checked");
        figure(bytes(staging.byteCount()), "staged");
        double seconds = staging.seconds();
        figure(
                seconds > 0 ? bytes(staging.byteCount() / seconds) + "/s" : "-",
                "over the whole run");
        GrowthFit fit = frames.isEmpty() ? null : analysis.growth();
        double theory = frames.isEmpty() ? 0 : TwoStreamTheory.growthRate(analysis.parameters());
        figure(
                fit == null || theory == 0
                        ? "-"
                        : Text.format("%+.1f %%", 100 * (fit.rate() / theory - 1)),
                "growth rate against theory");
        figure(
                frames.isEmpty() ? "-" : Text.format("%.2f %%", 100 * analysis.energyDeviation()),
                "largest change of total energy");
        out.append("</div>\n");
    }

    private void figure(String value, String meaning) {
        out.append("<div class=\"figure\"><b>").append(Html.escape(value)).append("</b><span>");
        out.append(Html.escape(meaning)).append("</span></div>");
    }

    private String lead() {
        StringBuilder text = new StringBuilder();
        text.append(info.processCount())
                .append(info.processCount() == 1 ? " process" : " processes");
        text.append(" simulated two beams of electrons that run through each other. A ripple too ");
        text.append("small to see grew until it rolled the beams up into a vortex. ");
        text.append("Every few steps each process packed its whole state into memory and went on ");
        text.append(
                "computing as soon as it had; a service process read the state straight out of ");
        text.append(
                "that memory and passed it on to the receiver, which stored it, checked it and ");
        text.append("computed everything below from it while the simulation was still running. ");
        text.append(
                Text.format(
                        "%d files, %s, arrived. ",
                        staging.arrivals().size(), bytes(staging.byteCount())));
        GrowthFit fit = frames.isEmpty() ? null : analysis.growth();
        if (fit != null) {
            text.append(
                    Text.format(
                            "The ripple grew at a rate of %.4f; the textbook says %.4f. ",
                            fit.rate(), TwoStreamTheory.growthRate(analysis.parameters())));
        }
        for (Check check : checks) {
            if (check.outcome() == Check.Outcome.FAILED) {
                text.append("Failed: ").append(check.name()).append(" (");
                text.append(check.detail()).append("). ");
            }
        }
        return text.toString();
    }

    private void phaseSpace() {
        int last = frames.size() - 1;
        out.append(
                "<h2>Phase space over time</h2><p class=\"note\">Amber electrons began moving to the");
        out.append(" right, blue ones to the left. Time is in units of 1 / plasma frequency.</p>");
        PhaseAxes axes = new PhaseAxes(analysis.parameters());
        out.append("<div class=\"stage\">");
        String big =
                Text.format(
                        "<img id=\"big\" alt=\"Phase space\" width=\"%d\" height=\"%d\" src=\"%s\">",
                        PhaseImage.WIDTH, PhaseImage.HEIGHT, data(frames.get(last).image()));
        out.append(axes.around(big)).append(axes.key());
        out.append("<div class=\"controls\"><button id=\"play\" type=\"button\">Play</button>");
        out.append("<input id=\"slider\" type=\"range\" aria-label=\"Step\" min=\"0\" max=\"");
        out.append(last).append("\" value=\"").append(last).append("\">");
        out.append("<output id=\"label\"></output></div></div>\n");
        out.append("<p class=\"note\">The small pictures have the same axes.</p>");
        out.append("<div class=\"strip\">");
        int count = Math.min(STRIP_COUNT, frames.size());
        for (int i = 0; i < count; i++) {
            int index = count == 1 ? last : (int) Math.round((double) i * last / (count - 1));
            RunAnalysis.Frame frame = frames.get(index);
            out.append("<figure><img class=\"phase\" data-frame=\"").append(index);
            out.append("\" alt=\"Phase space at step ").append(frame.sample().step());
            out.append("\" src=\"").append(data(frame.image())).append("\"><figcaption>");
            out.append(
                    Text.format("t = %.1f, step %d", frame.sample().time(), frame.sample().step()));
            out.append("</figcaption></figure>");
        }
        out.append("</div>\n");
    }

    private static double[] column(List<PicSample> samples, ToDoubleFunction<PicSample> value) {
        return samples.stream().mapToDouble(value).toArray();
    }

    private void physics() {
        List<PicSample> mine = analysis.computed();
        double[] times = column(mine, PicSample::time);
        Chart growth = new Chart("Energy of the field", TIME, ENERGY, true);
        List<PicSample> told = analysis.told();
        if (!told.isEmpty()) {
            growth.line(
                    "told by the simulation",
                    "four",
                    column(told, PicSample::time),
                    column(told, PicSample::fieldEnergy),
                    false);
        }
        growth.line("computed here", "one", times, column(mine, PicSample::fieldEnergy), true);
        GrowthFit fit = analysis.growth();
        double theory = TwoStreamTheory.growthRate(analysis.parameters());
        if (fit != null && theory > 0) {
            double middle = 0.5 * (fit.from() + fit.to());
            double level = fit.offset() + 2 * fit.rate() * middle;
            double[] ends = {fit.from() - 3, fit.to() + 3};
            double[] line = {
                Math.exp(level + 2 * theory * (ends[0] - middle)),
                Math.exp(level + 2 * theory * (ends[1] - middle))
            };
            growth.line("linear theory", "dash", ends, line, false);
            growth.band(fit.from(), fit.to());
        }
        Chart energy = new Chart("Energies", TIME, ENERGY, false);
        energy.line("total", "three", times, column(mine, PicSample::totalEnergy), false);
        energy.line("of motion", "two", times, column(mine, PicSample::kineticEnergy), false);
        energy.line("of the field", "one", times, column(mine, PicSample::fieldEnergy), false);
        out.append("<h2>Does the physics hold?</h2><div class=\"pair\">");
        card(
                "The wave grows as theory says",
                "On this scale exponential growth is a straight line. Its slope was measured where "
                        + "the page is shaded.",
                growth.svg());
        card(
                "Energy changes form and is not lost",
                "The wave takes its energy out of the beams' motion.",
                energy.svg());
        out.append("</div>\n");
    }

    private void card(String title, String text, String picture) {
        out.append("<div class=\"card\"><h3>").append(Html.escape(title)).append("</h3><p>");
        out.append(Html.escape(text)).append("</p>").append(picture).append("</div>");
    }

    private void stagingCharts() {
        List<StagingRecord.Arrival> arrivals = staging.arrivals();
        if (arrivals.isEmpty()) {
            return;
        }
        double[] seconds = new double[arrivals.size()];
        double[] megabytes = new double[arrivals.size()];
        double sum = 0;
        for (int i = 0; i < seconds.length; i++) {
            seconds[i] = (arrivals.get(i).timeNs() - arrivals.get(0).timeNs()) / 1e9;
            sum += arrivals.get(i).length() / 1e6;
            megabytes[i] = sum;
        }
        out.append("<h2>What was staged, and what it cost the simulation</h2><div class=\"pair\">");
        card(
                "Data on the receiver's disk",
                "Each dot is a restart file that arrived whole and was stored.",
                new Chart("Data stored", "seconds since the first file", "MB", false)
                        .line("stored", "one", seconds, megabytes, true)
                        .svg());
        List<StagingRecord.Cost> costs = staging.costs();
        if (!costs.isEmpty()) {
            Chart chart =
                    new Chart("Time per restart file", "step of the file", "milliseconds", true);
            chart.line("computing", "three", perStep(costs, 0), perStep(costs, 1), true);
            chart.line("stalled by output", "two", perStep(costs, 0), perStep(costs, 2), true);
            chart.line("of that, waiting", "one", perStep(costs, 0), perStep(costs, 3), true);
            card(
                    "Staging beside computing",
                    "Of each output the slowest process. Waiting means: the file before was still being"
                            + " read.",
                    chart.svg());
        }
        out.append("</div>\n");
    }

    /** The step, or what took its slowest process longest. */
    private static double[] perStep(List<StagingRecord.Cost> costs, int what) {
        Map<Long, double[]> most = new java.util.TreeMap<>();
        for (StagingRecord.Cost cost : costs) {
            double[] row = most.computeIfAbsent(cost.step(), step -> new double[4]);
            row[0] = cost.step();
            row[1] = Math.max(row[1], cost.computeNs() / 1e6);
            row[2] = Math.max(row[2], cost.stallNs() / 1e6);
            row[3] = Math.max(row[3], cost.waitNs() / 1e6);
        }
        return most.values().stream().mapToDouble(row -> row[what]).toArray();
    }

    private void tables() {
        out.append("<h2>Checks</h2><table class=\"wide\" id=\"checks\"><tr><th>Check</th>");
        out.append("<th>Outcome</th><th>Found</th></tr>");
        for (Check check : checks) {
            String outcome = check.outcome().name().toLowerCase(Locale.ROOT);
            row(
                    "<td>" + Html.escape(check.name()) + "</td>",
                    "<td class=\"" + outcome + "\">" + outcome.replace('_', ' ') + "</td>",
                    "<td>" + Html.escape(check.detail()) + "</td>");
        }
        out.append("</table>\n<h2>Staging, process by process</h2>");
        out.append("<p class=\"note\">th: sending the small header that announces a file. tw: ");
        out.append("waiting because the file before was still being read. tt: the whole call. ");
        out.append("Stall: tt and packing the file. Each is a mean over n files, in brackets ");
        out.append("shortest to longest. Share: of the stall in the time of the run.</p>");
        out.append("<table class=\"wide\" id=\"costs\"><tr><th>Compute process</th>");
        for (String column : COST_COLUMNS) {
            out.append("<th class=\"n\">").append(column).append("</th>");
        }
        out.append("</tr>");
        for (Summary.ProcessCost cost : Summary.perProcess(staging.costs())) {
            out.append("<tr><td>Process ").append(cost.rank()).append("</td>");
            String[] cells = {
                Long.toString(cost.fileCount()),
                Long.toString(cost.messageCount()),
                bytes(cost.byteCount()),
                cost.header().text(),
                cost.waiting().text(),
                cost.total().text(),
                cost.stall().text(),
                Text.format("%.2f %%", 100 * cost.share())
            };
            for (int i = 0; i < cells.length; i++) {
                Html.cell(out, COST_COLUMNS[i], cells[i]);
            }
            out.append("</tr>");
        }
        out.append("</table>\n<h2>Where it ran</h2><table class=\"wide\">");
        pair("Transport", info.transport() + ". " + staging.explanation());
        pair(
                "Processes",
                info.processCount() + " compute, " + info.serverCount() + " service, 1 receiver");
        pair(
                "Restart files",
                info.buffered()
                        ? "buffered: one message each"
                        : "unbuffered: one " + "message for each item");
        if (analysis.parameters() != null) {
            pair(
                    "Simulation",
                    Text.format(
                            "%d particles, %d cells, %d steps",
                            analysis.parameters().particleCount(),
                            analysis.parameters().cellCount(),
                            info.stepCount()));
        }
        info.environment().forEach(this::pair);
        out.append("</table>\n");
    }

    private void pair(String name, String value) {
        row("<td>" + Html.escape(name) + "</td>", "<td>" + Html.escape(value) + "</td>");
    }

    private void row(String... cells) {
        out.append("<tr>");
        for (String cell : cells) {
            out.append(cell);
        }
        out.append("</tr>");
    }

    private void script() {
        List<String> sources = new ArrayList<>();
        for (RunAnalysis.Frame frame : frames) {
            sources.add(
                    Text.format(
                            "{step:%d,time:\"%.1f\",image:\"%s\"}",
                            frame.sample().step(), frame.sample().time(), data(frame.image())));
        }
        out.append("<script>const sources=[").append(String.join(",\n", sources));
        out.append("];\n").append(Html.resource(Report.class, "report.js")).append("</script>");
    }

    private static String data(byte[] png) {
        return "data:image/png;base64," + Base64.getEncoder().encodeToString(png);
    }

    /** Bytes for people, in powers of ten. */
    static String bytes(double count) {
        if (count < 1e3) {
            return Text.format("%.0f B", count);
        }
        return count < 1e6
                ? Text.format("%.1f kB", count / 1e3)
                : count < 1e9
                        ? Text.format("%.1f MB", count / 1e6)
                        : Text.format("%.2f GB", count / 1e9);
    }
}
