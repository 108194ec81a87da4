package dev.verbena.cli.demo.transit;

import dev.verbena.cli.demo.transit.StagingRecord.Cost;
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
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** The report of a run: {@code report.html} for people, {@code summary.json} for programs. */
public final class Report {
    private static final int STRIP_COUNT = 8;
    private static final String TIME = "time, in 1 / plasma frequency";
    private static final String ENERGY = "energy, in units of the simulation";

    private static final List<String> COST_COLUMNS =
            List.of(
                    "Compute process",
                    "n, files",
                    "Messages",
                    "Data",
                    "th",
                    "tw",
                    "tt",
                    "Stall",
                    "Share");

    private final RunInfo info;
    private final RunAnalysis analysis;
    private final StagingRecord staging;
    private final Timeline timeline;
    private final StallFigures stalls;
    private final List<Check> checks;
    private final List<RunAnalysis.Frame> frames;

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
        PageOne first = new PageOne(info, staging, timeline, stalls);
        double seconds = staging.seconds();
        boolean hasFrames = !frames.isEmpty();
        Map<String, Object> values = new HashMap<>();
        values.put("style", Html.resource(Html.class, "report.css"));
        values.put("first", first.html(isGood()));
        values.put("lead", lead());
        values.put("processes", info.processCount());
        values.put("servers", info.serverCount());
        values.put("files", staging.arrivals().size());
        values.put("staged", bytes(staging.byteCount()));
        values.put("pace", seconds > 0 ? bytes(staging.byteCount() / seconds) + "/s" : "-");
        values.put("growth", growth());
        values.put(
                "energy",
                hasFrames ? Text.format("%.2f %%", 100 * analysis.energyDeviation()) : "-");
        values.put("outage", new OutageSection(staging, timeline).html());
        values.put("method", first.method());
        values.put("physics", hasFrames ? physics() : "");
        values.put("staging", stagingCharts());
        values.put("checks", checkRows());
        values.put("costs", costs());
        values.put("where", where());
        values.put("script", hasFrames ? script() : "");
        return Html.page(Report.class, "report.html", values);
    }

    /** How far the rate is from what theory says. */
    private String growth() {
        GrowthFit fit = frames.isEmpty() ? null : analysis.growth();
        double theory = frames.isEmpty() ? 0 : TwoStreamTheory.growthRate(analysis.parameters());
        return fit == null || theory == 0
                ? "-"
                : Text.format("%+.1f %%", 100 * (fit.rate() / theory - 1));
    }

    private String lead() {
        StringBuilder text = new StringBuilder();
        text.append(
                Text.format(
                        "%d %s simulated two beams of electrons that run through each other. A"
                                + " ripple too small to see grew until it rolled the beams up into"
                                + " a vortex. Every few steps each process packed its whole state"
                                + " into memory and went on computing as soon as it had; a service"
                                + " process read the state straight out of that memory and passed"
                                + " it on to the receiver, which stored it, checked it and computed"
                                + " everything below from it while the simulation was still"
                                + " running. %d files, %s, arrived. ",
                        info.processCount(),
                        info.processCount() == 1 ? "process" : "processes",
                        staging.arrivals().size(),
                        bytes(staging.byteCount())));
        GrowthFit fit = frames.isEmpty() ? null : analysis.growth();
        if (fit != null) {
            text.append(
                    Text.format(
                            "The ripple grew at a rate of %.4f; the textbook says %.4f. ",
                            fit.rate(), TwoStreamTheory.growthRate(analysis.parameters())));
        }
        for (Check check : checks) {
            if (check.outcome() == Check.Outcome.FAILED) {
                text.append("Failed: %s (%s). ".formatted(check.name(), check.detail()));
            }
        }
        return text.toString();
    }

    /** Phase space over time, and what of it theory foretells. */
    private String physics() {
        int last = frames.size() - 1;
        PhaseAxes axes = new PhaseAxes(analysis.parameters());
        String big =
                Text.format(
                        "<img id=\"big\" alt=\"Phase space\" width=\"%d\" height=\"%d\" src=\"%s\">",
                        PhaseImage.WIDTH, PhaseImage.HEIGHT, data(frames.get(last).image()));
        return Html.page(
                Report.class,
                "physics.html",
                Map.of(
                        "big", axes.around(big),
                        "length", Text.format("%.2f", analysis.parameters().length()),
                        "scales", PhaseAxes.scales(),
                        "most", axes.most(),
                        "last", last,
                        "strip", strip(),
                        "wave", wave().svg(),
                        "energies", energies().svg()));
    }

    private String strip() {
        int last = frames.size() - 1;
        int count = Math.min(STRIP_COUNT, frames.size());
        StringBuilder strip = new StringBuilder();
        for (int i = 0; i < count; i++) {
            int index = count == 1 ? last : (int) Math.round((double) i * last / (count - 1));
            RunAnalysis.Frame frame = frames.get(index);
            strip.append(
                    Text.format(
                            "<figure><img class=\"phase\" data-frame=\"%d\" alt=\"Phase space at"
                                    + " step %d\" src=\"%s\"><figcaption>t = %.1f, step %2$d"
                                    + "</figcaption></figure>",
                            index,
                            frame.sample().step(),
                            data(frame.image()),
                            frame.sample().time()));
        }
        return strip.toString();
    }

    private static double[] column(List<PicSample> samples, ToDoubleFunction<PicSample> value) {
        return samples.stream().mapToDouble(value).toArray();
    }

    private Chart wave() {
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
        return growth;
    }

    private Chart energies() {
        List<PicSample> mine = analysis.computed();
        double[] times = column(mine, PicSample::time);
        return new Chart("Energies", TIME, ENERGY, false)
                .line("total", "three", times, column(mine, PicSample::totalEnergy), false)
                .line("of motion", "two", times, column(mine, PicSample::kineticEnergy), false)
                .line("of the field", "one", times, column(mine, PicSample::fieldEnergy), false);
    }

    private static String card(String title, String text, Chart chart) {
        return "<div class=\"card\"><h3>%s</h3><p>%s</p>%s</div>"
                .formatted(Html.escape(title), Html.escape(text), chart.svg());
    }

    private String stagingCharts() {
        List<StagingRecord.Arrival> arrivals = staging.arrivals();
        if (arrivals.isEmpty()) {
            return "";
        }
        double[] seconds = new double[arrivals.size()];
        double[] megabytes = new double[arrivals.size()];
        double sum = 0;
        for (int i = 0; i < seconds.length; i++) {
            seconds[i] = (arrivals.get(i).timeNs() - arrivals.get(0).timeNs()) / 1e9;
            sum += arrivals.get(i).length() / 1e6;
            megabytes[i] = sum;
        }
        String stored =
                card(
                        "Data on the receiver's disk",
                        "Each dot is a restart file that arrived whole and was stored.",
                        new Chart("Data stored", "seconds since the first file", "MB", false)
                                .line("stored", "one", seconds, megabytes, true));
        return "<h2>What was staged, and what it cost the simulation</h2><div class=\"pair\">"
                + stored
                + costChart()
                + "</div>\n";
    }

    private String costChart() {
        if (staging.costs().isEmpty()) {
            return "";
        }
        double[] steps =
                staging.slowest(Cost::stallNs).keySet().stream()
                        .mapToDouble(Long::doubleValue)
                        .toArray();
        return card(
                "Staging beside computing",
                "Of each output the slowest process. Waiting means: the file before was still being"
                        + " read.",
                new Chart("Time per restart file", "step of the file", "milliseconds", true)
                        .line("computing", "three", steps, slowestMs(Cost::computeNs), true)
                        .line("stalled by output", "two", steps, slowestMs(Cost::stallNs), true)
                        .line("of that, waiting", "one", steps, slowestMs(Cost::waitNs), true));
    }

    private double[] slowestMs(ToLongFunction<Cost> time) {
        return staging.slowest(time).values().stream().mapToDouble(ns -> ns / 1e6).toArray();
    }

    private String checkRows() {
        StringBuilder rows = new StringBuilder();
        for (Check check : checks) {
            String outcome = check.outcome().name().toLowerCase(Locale.ROOT);
            rows.append(
                    "<tr><td>%s</td><td class=\"%s\">%s</td><td>%s</td></tr>"
                            .formatted(
                                    Html.escape(check.name()),
                                    outcome,
                                    outcome.replace('_', ' '),
                                    Html.escape(check.detail())));
        }
        return rows.toString();
    }

    private String costs() {
        List<List<String>> rows = new ArrayList<>();
        for (Summary.ProcessCost cost : Summary.perProcess(staging.costs())) {
            rows.add(
                    List.of(
                            "Process " + cost.rank(),
                            Long.toString(cost.fileCount()),
                            Long.toString(cost.messageCount()),
                            bytes(cost.byteCount()),
                            cost.header().text(),
                            cost.waiting().text(),
                            cost.total().text(),
                            cost.stall().text(),
                            Text.format("%.2f %%", 100 * cost.share())));
        }
        return Html.table(" class=\"wide\" id=\"costs\"", COST_COLUMNS, rows);
    }

    private String where() {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("Transport", info.transport() + ". " + staging.explanation());
        facts.put(
                "Processes",
                info.processCount() + " compute, " + info.serverCount() + " service, 1 receiver");
        facts.put(
                "Restart files",
                info.buffered()
                        ? "buffered: one message each"
                        : "unbuffered: one message for each item");
        if (analysis.parameters() != null) {
            facts.put(
                    "Simulation",
                    Text.format(
                            "%d particles, %d cells, %d steps",
                            analysis.parameters().particleCount(),
                            analysis.parameters().cellCount(),
                            info.stepCount()));
        }
        facts.putAll(info.environment());
        StringBuilder rows = new StringBuilder();
        facts.forEach(
                (name, value) ->
                        rows.append(
                                "<tr><td>%s</td><td>%s</td></tr>"
                                        .formatted(Html.escape(name), Html.escape(value))));
        return rows.toString();
    }

    private String script() {
        List<String> sources = new ArrayList<>();
        for (RunAnalysis.Frame frame : frames) {
            sources.add(
                    Text.format(
                            "{step:%d,time:\"%.1f\",image:\"%s\"}",
                            frame.sample().step(), frame.sample().time(), data(frame.image())));
        }
        return "<script>const sources=[%s];\n%s</script>"
                .formatted(String.join(",\n", sources), Html.resource(Report.class, "report.js"));
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
