package dev.verbena.cli.flesnet;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.Text;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.nsim.flesnet.FlesnetExperiment;
import dev.verbena.nsim.flesnet.FlesnetExperiment.Disturbance;
import dev.verbena.nsim.flesnet.FlesnetExperiment.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flesnet experiment}. */
@Command(
        name = "experiment",
        description = {
            "What the paper of the Data-Flow Scheduler shows. With real processes over every transport"
                    + " that is here, and beside them MPI_Put of Open MPI:",
            "",
            "  fig3  duration of a round of writes, by size; if processes do not exceed processors",
            "  fig4  bandwidth of a sender, by size",
            "  fig5  bandwidth of all senders, with and without small messages, by size",
            "",
            "In the simulator, packet by packet:",
            "",
            "  fig6  first to last arrival of a timeslice, paced and best effort, by nodes",
            "  fig7  aggregate bandwidth, by nodes",
            "  fig8  planned and measured duration of intervals, disturbed from 15 to 24:",
            "        inflated reports, and slowed links; at least 40 intervals",
            "  fig9  how full rings are, sampled each millisecond of virtual time",
            "",
            "Half of the nodes are inputs, or senders. Times of figures 6 to 9 are virtual; a run"
                    + " takes seconds to minutes."
        },
        sortOptions = false)
public final class FlesnetExperimentCommand extends CliCommand {
    private static final String OUTPUT = "flesnet-output";
    private static final int PERCENTILES = 101;

    /** Which of them. */
    enum Which {
        fig3,
        fig4,
        fig5,
        fig6,
        fig7,
        fig8,
        fig9;

        /** Whether it compares software stacks, with real processes. */
        boolean isOfStacks() {
            return compareTo(fig5) <= 0;
        }

        boolean isOfDuration() {
            return this == fig3;
        }
    }

    @Parameters(paramLabel = "fig3|...|fig9", description = "Which figure.")
    private Which which;

    @Option(
            names = "--nodes",
            paramLabel = "N[,N...]",
            split = ",",
            description =
                    "Nodes, even, 4 to 384, default 64; fig3 to fig5: processes, 2 to 64, default"
                            + " 2,4.")
    private List<Integer> nodes = List.of();

    @Mixin private WriteOptions writes;

    @Option(
            names = "--per-interval",
            paramLabel = "N",
            defaultValue = "320",
            description = "Timeslices of an interval, at most; default ${DEFAULT-VALUE}.")
    private int perInterval;

    @Option(
            names = "--intervals",
            paramLabel = "N",
            defaultValue = "12",
            description =
                    "Intervals of a run, of which the later half counts; default"
                            + " ${DEFAULT-VALUE}.")
    private int intervals;

    @Option(
            names = "--history",
            paramLabel = "N",
            defaultValue = "3",
            description =
                    "Intervals that the scheduler looks back, the paper's: 10; default"
                            + " ${DEFAULT-VALUE}.")
    private int history;

    @Option(names = "--seed", paramLabel = "S", defaultValue = "1", description = "Of the noise.")
    private long seed;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Folder for report.html, results.json and points.csv; absent or empty."
                            + " Default: the next free flesnet-output/run-N.")
    private Path output;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (nodes.isEmpty()) {
            nodes = which.isOfStacks() ? List.of(2, 4) : List.of(64);
        }
        inRange("--history", history, 1, 1000);
        inRange("--per-interval", perInterval, 1, 1_000_000);
        inRange("--intervals", intervals, which == Which.fig8 ? 40 : 4, 10_000);
        for (int count : nodes) {
            inRange("--nodes", count, which.isOfStacks() ? 2 : 4, which.isOfStacks() ? 64 : 384);
            if (count % 2 != 0) {
                throw wrong("--nodes %s is odd: half of them are inputs", count);
            }
        }
        writes.check(spec);
        Path folder = OutputFolder.prepareOrNext(output, OUTPUT);
        if (which.isOfStacks()) {
            return stacks(folder);
        }
        ResultReport report = new ResultReport("FLESnet in the simulator: " + which);
        report.section(
                which.name(),
                "%s timeslices an interval, %s intervals, the later half counts; seed %s."
                        .formatted(perInterval, intervals, seed));
        if (which == Which.fig8) {
            List<Disturbance> ways = List.of(Disturbance.REPORTS, Disturbance.LINKS);
            List<Outcome> outcomes = ways.parallelStream().map(this::disturbed).toList();
            for (int i = 0; i < ways.size(); i++) {
                recovery(report, ways.get(i), outcomes.get(i));
            }
        } else {
            draw(report);
        }
        report.write(folder, environment());
        report.summary().forEach((name, value) -> say("%-40s %s".formatted(name, value)));
        say("report: " + folder.resolve("report.html"));
        return 0;
    }

    /** Figures 3 to 5. */
    private int stacks(Path folder) throws IOException, InterruptedException {
        ResultReport report = new ResultReport("FLESnet's writes by several stacks: " + which);
        report.section(
                which.name(),
                "Rounds of writes from each sender to each receiver, 16 under way; medians of %s runs,"
                                .formatted(writes.repeat())
                        + " in which all stacks took turns. The paper had libfabric and MPI on a Cray"
                        + " XC40; here all processes are on one machine.");
        Path program = folder.resolve("mpi_write_rounds");
        ProgressLine progress = new ProgressLine(out());
        WriteExperiment experiment =
                new WriteExperiment(
                        which,
                        writes.load(which == Which.fig5),
                        writes.stacks(program, missing -> leaveOut(report, missing)),
                        nodes,
                        Runtime.getRuntime().availableProcessors());
        try (Termination termination = new Termination(10_000)) {
            if (!experiment.measure(writes.repeat(), termination, progress)) {
                return 1;
            }
        } finally {
            progress.end();
            Files.deleteIfExists(program);
        }
        if (!experiment.restriction().isEmpty()) {
            leaveOut(report, experiment.restriction());
        }
        experiment.report(report);
        experiment.lines().forEach(this::say);
        report.write(folder, environment());
        say("report: " + folder.resolve("report.html"));
        return 0;
    }

    private void leaveOut(ResultReport report, String what) {
        say(what);
        report.paragraph(what);
    }

    private Outcome disturbed(Disturbance disturbance) {
        return new FlesnetExperiment(last() / 2, perInterval, intervals)
                .paced(true)
                .history(history)
                .seed(seed)
                .disturbance(disturbance)
                .run();
    }

    private int last() {
        return nodes.get(nodes.size() - 1);
    }

    /** Figure 8: how the plan follows a disturbance, and recovers. */
    private void recovery(ResultReport report, Disturbance disturbance, Outcome outcome) {
        String name = disturbance.name().toLowerCase(Locale.ROOT);
        for (int j = 0; j < intervals; j++) {
            Map<String, Object> point = new LinkedHashMap<>();
            point.put("nodes", last());
            point.put("disturbed", name);
            point.put("interval", j);
            point.put("planned_us", outcome.plannedNs()[j] / 1e3);
            point.put("measured_us", outcome.measuredNs()[j] / 1e3);
            report.point(point);
        }
        double[] numbers = IntStream.range(0, intervals).asDoubleStream().toArray();
        report.chart(
                "Duration of intervals, disturbed: " + name,
                new Chart("Duration of intervals", "interval", "us", false)
                        .line("planned", numbers, microseconds(outcome.plannedNs()), true)
                        .line("measured", numbers, microseconds(outcome.measuredNs()), true));
        long before = outcome.measuredNs()[FlesnetExperiment.DISTURBED_FROM - 1];
        long last = outcome.measuredNs()[FlesnetExperiment.DISTURBED_TO - 1];
        report.figure(
                name + ": last disturbed interval / the one before all", (double) last / before);
        report.figure(
                name + ": last interval / the one before all",
                (double) outcome.measuredNs()[intervals - 1] / before);
    }

    private static double[] microseconds(long[] nanoseconds) {
        return Arrays.stream(nanoseconds).mapToDouble(ns -> ns / 1e3).toArray();
    }

    /** Best effort and paced side by side: a run has one thread. */
    private List<Outcome> both(int count) {
        return Stream.of(false, true).parallel().map(isPaced -> run(count, isPaced)).toList();
    }

    private Outcome run(int count, boolean isPaced) {
        Outcome outcome =
                new FlesnetExperiment(count / 2, perInterval, intervals)
                        .paced(isPaced)
                        .history(history)
                        .seed(seed)
                        .run();
        say(
                Text.format(
                        "%s nodes, %s: spread %.1f us (90 %%), %.2f GB/s, fill %.0f %% (50 %%)",
                        count,
                        isPaced ? "paced" : "best effort",
                        outcome.spreadNs(90) / 1e3,
                        outcome.bytesPerSecond() / 1e9,
                        100 * outcome.fill(50)));
        return outcome;
    }

    private static void point(ResultReport report, int count, boolean isPaced, Outcome outcome) {
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("nodes", count);
        point.put("paced", isPaced);
        point.put("spread_p50_us", outcome.spreadNs(50) / 1e3);
        point.put("spread_p90_us", outcome.spreadNs(90) / 1e3);
        point.put("bandwidth_GB_per_s", outcome.bytesPerSecond() / 1e9);
        point.put("fill_p50", outcome.fill(50));
        point.put("fill_p90", outcome.fill(90));
        point.put("fill_max", outcome.fill(100));
        point.put("timeslices", outcome.timeslices());
        point.put("virtual_ms", outcome.virtualNs() / 1e6);
        point.put("events", outcome.eventCount());
        report.point(point);
    }

    private void draw(ResultReport report) {
        List<Outcome> bestEffort = new ArrayList<>();
        List<Outcome> paced = new ArrayList<>();
        for (int count : nodes) {
            List<Outcome> both = both(count);
            bestEffort.add(both.get(0));
            paced.add(both.get(1));
            point(report, count, false, both.get(0));
            point(report, count, true, both.get(1));
        }
        draw(report, bestEffort, paced);
    }

    private void draw(ResultReport report, List<Outcome> bestEffort, List<Outcome> paced) {
        int last = nodes.size() - 1;
        switch (which) {
            case fig6 -> {
                report.chart(
                        "First to last arrival, 90th percentile",
                        byNodes("spread, us", true, bestEffort, paced, o -> o.spreadNs(90) / 1e3));
                double ratio =
                        (double) bestEffort.get(last).spreadNs(90) / paced.get(last).spreadNs(90);
                report.figure("spread, best effort / paced", ratio);
                report.figure("in the paper, at least", 30);
            }
            case fig7 -> {
                report.chart(
                        "Payload of all inputs",
                        byNodes("GB/s", false, bestEffort, paced, o -> o.bytesPerSecond() / 1e9));
                double ratio =
                        paced.get(last).bytesPerSecond() / bestEffort.get(last).bytesPerSecond();
                report.figure("bandwidth, paced / best effort", ratio);
                report.figure("in the paper", "1.39 to 1.52");
            }
            default -> {
                double[] percentiles = IntStream.range(0, PERCENTILES).asDoubleStream().toArray();
                report.chart(
                        "Fill of rings that this part of the samples does not exceed",
                        new Chart("Fill of rings", "samples, %", "fill, %", false)
                                .line(
                                        "best effort",
                                        percentiles,
                                        fills(bestEffort.get(last)),
                                        false)
                                .line("paced", percentiles, fills(paced.get(last)), false));
                report.figure("median fill, paced, %", 100 * paced.get(last).fill(50));
                report.figure("median fill, best effort, %", 100 * bestEffort.get(last).fill(50));
                report.figure("in the paper, paced, %", 10);
            }
        }
    }

    private Chart byNodes(
            String axis,
            boolean isLogarithmic,
            List<Outcome> bestEffort,
            List<Outcome> paced,
            ToDoubleFunction<Outcome> value) {
        double[] xs = nodes.stream().mapToDouble(Integer::doubleValue).toArray();
        return new Chart("By number of nodes", "nodes", axis, isLogarithmic)
                .doubling()
                .line("best effort", xs, bestEffort.stream().mapToDouble(value).toArray(), true)
                .line("paced", xs, paced.stream().mapToDouble(value).toArray(), true);
    }

    private static double[] fills(Outcome outcome) {
        return IntStream.range(0, PERCENTILES).mapToDouble(p -> 100 * outcome.fill(p)).toArray();
    }

    private Map<String, Object> environment() {
        Map<String, Object> fields = new LinkedHashMap<>();
        if (which.isOfStacks()) {
            fields.put("processor", ThisMachine.processor());
            fields.put("processors", Runtime.getRuntime().availableProcessors());
        } else {
            fields.put("machine", FlesnetExperiment.machineText());
        }
        fields.put("java", System.getProperty("java.vm.version"));
        fields.put("command", commandLine());
        return fields;
    }
}
