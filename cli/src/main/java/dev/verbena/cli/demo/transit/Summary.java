package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Json;
import dev.verbena.examples.pic.GrowthFit;
import dev.verbena.examples.pic.PicSample;
import dev.verbena.examples.pic.TwoStreamTheory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The report's numbers as JSON. Times are nanoseconds, lengths bytes. */
final class Summary {
    private final RunInfo info;
    private final RunAnalysis analysis;
    private final StagingRecord staging;
    private final Timeline timeline;
    private final StallFigures stalls;
    private final List<Check> checks;

    Summary(
            RunInfo info,
            RunAnalysis analysis,
            StagingRecord staging,
            Timeline timeline,
            StallFigures stalls,
            List<Check> checks) {
        this.info = info;
        this.analysis = analysis;
        this.staging = staging;
        this.timeline = timeline;
        this.stalls = stalls;
        this.checks = checks;
    }

    /**
     * What staging cost one process.
     *
     * @param header th, sending the header of a file
     * @param waiting tw, waiting for the file before
     * @param total tt, in the calls altogether
     * @param stall packing a file and the calls
     * @param share of the stall in the time of the run
     */
    record ProcessCost(
            int rank,
            long fileCount,
            long messageCount,
            long byteCount,
            Spread header,
            Spread waiting,
            Spread total,
            Spread stall,
            double share) {}

    static List<ProcessCost> perProcess(List<StagingRecord.Cost> costs) {
        Map<Integer, List<StagingRecord.Cost>> byRank = new TreeMap<>();
        costs.forEach(c -> byRank.computeIfAbsent(c.rank(), rank -> new ArrayList<>()).add(c));
        List<ProcessCost> rows = new ArrayList<>();
        byRank.forEach(
                (rank, list) -> {
                    double stall = list.stream().mapToLong(StagingRecord.Cost::stallNs).sum();
                    double compute = list.stream().mapToLong(StagingRecord.Cost::computeNs).sum();
                    rows.add(
                            new ProcessCost(
                                    rank,
                                    list.size(),
                                    list.stream().mapToLong(c -> c.messageCount()).sum(),
                                    list.stream().mapToLong(c -> c.length()).sum(),
                                    Spread.of(list, StagingRecord.Cost::headerNs),
                                    Spread.of(list, StagingRecord.Cost::waitNs),
                                    Spread.of(list, StagingRecord.Cost::totalNs),
                                    Spread.of(list, StagingRecord.Cost::stallNs),
                                    stall / Math.max(1, stall + compute)));
                });
        return rows;
    }

    String json() {
        StringBuilder out = new StringBuilder(8192);
        out.append("{\n  \"transport\": ").append(Json.string(info.transport()));
        out.append(",\n  \"explanation\": ").append(Json.string(staging.explanation()));
        out.append(",\n  \"processes\": ").append(info.processCount());
        out.append(",\n  \"servers\": ").append(info.serverCount());
        out.append(",\n  \"buffered\": ").append(info.buffered());
        out.append(",\n  \"steps\": ").append(info.stepCount());
        out.append(",\n  \"files\": ").append(staging.arrivals().size());
        out.append(",\n  \"bytes\": ").append(staging.byteCount());
        out.append(",\n  \"sent\": ").append(staging.sentCount());
        out.append(",\n  \"equal\": ").append(staging.equalCount());
        out.append(",\n  \"receiverKilled\": ").append(timeline.hasOutage());
        out.append(",\n  \"outage\": ").append(timeline.outageNs());
        out.append(",\n  \"stepsDuringOutage\": ").append(timeline.outageSteps());
        out.append(",\n  \"longestWithoutStep\": ").append(timeline.longestGap().lengthNs());
        out.append(",\n  \"outputShare\": ").append(staging.outputShare());
        out.append(",\n  \"seconds\": ").append(staging.seconds());
        GrowthFit fit = analysis.growth();
        if (analysis.parameters() != null) {
            double theory = TwoStreamTheory.growthRate(analysis.parameters());
            out.append(",\n  \"particles\": ").append(analysis.parameters().particleCount());
            out.append(",\n  \"growthTheory\": ").append(theory);
            out.append(",\n  \"growthMeasured\": ").append(fit == null ? "null" : fit.rate());
            out.append(",\n  \"energyDeviation\": ").append(analysis.energyDeviation());
        }
        out.append(",\n  \"passed\": ");
        out.append(checks.stream().noneMatch(c -> c.outcome() == Check.Outcome.FAILED));
        list(out, "checks", checks.stream().map(Summary::row).toList());
        list(out, "stalls", stalls.all().stream().map(Summary::row).toList());
        list(out, "costs", perProcess(staging.costs()).stream().map(Summary::row).toList());
        list(out, "samples", analysis.computed().stream().map(Summary::row).toList());
        List<String> rows = new ArrayList<>();
        info.environment()
                .forEach(
                        (key, value) ->
                                rows.add(
                                        object(
                                                "name",
                                                Json.string(key),
                                                "value",
                                                Json.string(value))));
        list(out, "environment", rows);
        return out.append("\n}\n").toString();
    }

    private static String row(Check check) {
        return object(
                "name",
                Json.string(check.name()),
                "outcome",
                Json.string(check.outcome().name()),
                "detail",
                Json.string(check.detail()));
    }

    private static String row(StallFigures.Figure figure) {
        return object(
                "output",
                Json.string(figure.mode().word()),
                "outputs",
                figure.stall().count(),
                "stallMean",
                figure.stall().mean(),
                "stallDeviation",
                figure.stall().deviation(),
                "stallLeast",
                figure.stall().least(),
                "stallMost",
                figure.stall().most(),
                "outputToOutput",
                figure.whole().mean(),
                "outputToOutputDeviation",
                figure.whole().deviation(),
                "drains",
                figure.drain().count(),
                "drainMean",
                figure.drain().mean(),
                "drainLeast",
                figure.drain().least(),
                "drainMost",
                figure.drain().most());
    }

    private static String row(ProcessCost cost) {
        return object(
                "rank",
                cost.rank(),
                "files",
                cost.fileCount(),
                "messages",
                cost.messageCount(),
                "bytes",
                cost.byteCount(),
                "headerMean",
                cost.header().mean(),
                "waitMean",
                cost.waiting().mean(),
                "waitMax",
                cost.waiting().most(),
                "totalMean",
                cost.total().mean(),
                "stallMean",
                cost.stall().mean(),
                "stallDeviation",
                cost.stall().deviation(),
                "stallMax",
                cost.stall().most(),
                "share",
                cost.share());
    }

    private static String row(PicSample sample) {
        return object(
                "step",
                sample.step(),
                "time",
                sample.time(),
                "fieldEnergy",
                sample.fieldEnergy(),
                "kineticEnergy",
                sample.kineticEnergy(),
                "momentum",
                sample.momentum(),
                "amplitude",
                sample.amplitude());
    }

    /** Names and values by turns; texts come quoted. */
    private static String object(Object... parts) {
        StringBuilder text = new StringBuilder("{");
        for (int i = 0; i < parts.length; i += 2) {
            text.append(i == 0 ? "" : ", ").append(Json.string(parts[i].toString()));
            text.append(": ").append(parts[i + 1]);
        }
        return text.append('}').toString();
    }

    private static void list(StringBuilder out, String name, List<String> rows) {
        out.append(",\n  \"").append(name).append("\": [");
        out.append(rows.isEmpty() ? "]" : "\n    " + String.join(",\n    ", rows) + "\n  ]");
    }
}
