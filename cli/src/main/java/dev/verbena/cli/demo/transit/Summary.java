package dev.verbena.cli.demo.transit;

import dev.verbena.cli.terminal.Json;
import dev.verbena.examples.pic.GrowthFit;
import dev.verbena.examples.pic.PicSample;
import dev.verbena.examples.pic.TwoStreamTheory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The report's numbers as JSON. Times are nanoseconds, lengths bytes.
 *
 * @param info what ran
 * @param analysis its physics
 * @param staging what was staged, and what that cost
 * @param timeline when what happened
 * @param stalls what the comparison of ways of output found
 * @param checks what was checked
 */
record Summary(
        RunInfo info,
        RunAnalysis analysis,
        StagingRecord staging,
        Timeline timeline,
        StallFigures stalls,
        List<Check> checks) {
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

    /** An object with a member a line, and a list with a row a line. */
    String json() {
        return all().entrySet().stream()
                .map(member -> "  " + Json.string(member.getKey()) + ": " + text(member.getValue()))
                .collect(Collectors.joining(",\n", "{\n", "\n}\n"));
    }

    private static String text(Object value) {
        return value instanceof List<?> rows && !rows.isEmpty()
                ? rows.stream()
                        .map(Json::of)
                        .collect(Collectors.joining(",\n    ", "[\n    ", "\n  ]"))
                : Json.of(value);
    }

    private Map<String, Object> all() {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("transport", info.transport());
        all.put("explanation", staging.explanation());
        all.put("processes", info.processCount());
        all.put("servers", info.serverCount());
        all.put("buffered", info.buffered());
        all.put("steps", info.stepCount());
        all.put("files", staging.arrivals().size());
        all.put("bytes", staging.byteCount());
        all.put("sent", staging.sentCount());
        all.put("equal", staging.equalCount());
        all.put("receiverKilled", timeline.hasOutage());
        all.put("outage", timeline.outageNs());
        all.put("stepsDuringOutage", timeline.outageSteps());
        all.put("longestWithoutStep", timeline.longestGap().lengthNs());
        all.put("outputShare", staging.outputShare());
        all.put("seconds", staging.seconds());
        GrowthFit fit = analysis.growth();
        if (analysis.parameters() != null) {
            all.put("particles", analysis.parameters().particleCount());
            all.put("growthTheory", TwoStreamTheory.growthRate(analysis.parameters()));
            all.put("growthMeasured", fit == null ? null : fit.rate());
            all.put("energyDeviation", analysis.energyDeviation());
        }
        all.put("passed", checks.stream().noneMatch(c -> c.outcome() == Check.Outcome.FAILED));
        all.put("checks", checks.stream().map(Summary::row).toList());
        all.put("stalls", stalls.all().stream().map(Summary::row).toList());
        all.put("costs", perProcess(staging.costs()).stream().map(Summary::row).toList());
        all.put("samples", analysis.computed().stream().map(Summary::row).toList());
        List<Object> environment = new ArrayList<>();
        info.environment()
                .forEach((name, value) -> environment.add(row("name", name, "value", value)));
        all.put("environment", environment);
        return all;
    }

    private static Map<String, Object> row(Check check) {
        Map<String, Object> row = row("name", check.name(), "outcome", check.outcome().name());
        row.put("detail", check.detail());
        return row;
    }

    private static Map<String, Object> row(
            String name, Object value, String next, Object nextValue) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put(name, value);
        row.put(next, nextValue);
        return row;
    }

    private static Map<String, Object> row(StallFigures.Figure figure) {
        Map<String, Object> row =
                row("output", figure.mode().word(), "outputs", figure.stall().count());
        row.put("stallMean", figure.stall().mean());
        row.put("stallDeviation", figure.stall().deviation());
        row.put("stallLeast", figure.stall().least());
        row.put("stallMost", figure.stall().most());
        row.put("outputToOutput", figure.whole().mean());
        row.put("outputToOutputDeviation", figure.whole().deviation());
        row.put("drains", figure.drain().count());
        row.put("drainMean", figure.drain().mean());
        row.put("drainLeast", figure.drain().least());
        row.put("drainMost", figure.drain().most());
        return row;
    }

    private static Map<String, Object> row(ProcessCost cost) {
        Map<String, Object> row = row("rank", cost.rank(), "files", cost.fileCount());
        row.put("messages", cost.messageCount());
        row.put("bytes", cost.byteCount());
        row.put("headerMean", cost.header().mean());
        row.put("waitMean", cost.waiting().mean());
        row.put("waitMax", cost.waiting().most());
        row.put("totalMean", cost.total().mean());
        row.put("stallMean", cost.stall().mean());
        row.put("stallDeviation", cost.stall().deviation());
        row.put("stallMax", cost.stall().most());
        row.put("share", cost.share());
        return row;
    }

    private static Map<String, Object> row(PicSample sample) {
        Map<String, Object> row = row("step", sample.step(), "time", sample.time());
        row.put("fieldEnergy", sample.fieldEnergy());
        row.put("kineticEnergy", sample.kineticEnergy());
        row.put("momentum", sample.momentum());
        row.put("amplitude", sample.amplitude());
        return row;
    }
}
