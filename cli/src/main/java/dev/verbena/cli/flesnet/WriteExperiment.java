package dev.verbena.cli.flesnet;

import dev.verbena.cli.flesnet.WriteLoad.Measured;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Figures 3 to 5: rounds of writes from each sender to each receiver, by all stacks in turn,
 * several times. One thread.
 */
final class WriteExperiment {
    private static final List<String> HEAD =
            List.of(
                    "stack",
                    "processes",
                    "bytes",
                    "small messages",
                    "us per round",
                    "MB/s per sender",
                    "MB/s in all");

    private final FlesnetExperimentCommand.Which which;
    private final WriteLoad load;
    private final List<WriteStack> stacks;
    private final List<Integer> processes;
    private final int processors;

    /** By stack, processes, size and mix, in the order in which they were measured first. */
    private final Map<List<Object>, Row> rows = new LinkedHashMap<>();

    /** A stack with so many processes, a size and a mix. */
    private static final class Row {
        final String stack;
        final int processes;
        final int size;
        final boolean isMixed;
        private final List<Double> roundNs = new ArrayList<>();
        private final List<Double> rates = new ArrayList<>();

        Row(String stack, int processes, Measured first) {
            this.stack = stack;
            this.processes = processes;
            this.size = first.size();
            this.isMixed = first.isMixed();
        }

        /** The senders of one run. */
        void add(List<Measured> senders) {
            roundNs.add(mean(senders, one -> (double) one.ns() / one.rounds()));
            int receivers = processes / 2;
            rates.add(mean(senders, one -> 1e3 * one.rounds() * receivers * size / one.ns()));
        }

        private static double mean(List<Measured> senders, ToDoubleFunction<Measured> value) {
            return senders.stream().mapToDouble(value).average().orElse(Double.NaN);
        }

        private static double median(List<Double> samples) {
            double[] sorted = samples.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            return sorted[sorted.length / 2];
        }

        double roundUs() {
            return median(roundNs) / 1e3;
        }

        /** Of one sender, without small messages; 10^6 bytes. */
        double megabytesPerSecond() {
            return median(rates);
        }

        double allMegabytesPerSecond() {
            return processes / 2 * megabytesPerSecond();
        }
    }

    /** Nothing is measured yet. */
    WriteExperiment(
            FlesnetExperimentCommand.Which which,
            WriteLoad load,
            List<WriteStack> stacks,
            List<Integer> processes,
            int processors) {
        this.which = which;
        this.load = load;
        this.stacks = stacks;
        this.processes = processes;
        this.processors = processors;
    }

    /** Measures everything so many times; false: the end is wished for. */
    boolean measure(int repeat, Termination termination, ProgressLine progress)
            throws IOException, InterruptedException {
        int total = repeat * processes.size() * stacks.size();
        int done = 0;
        for (int i = 0; i < repeat; i++) {
            for (int count : processes) {
                for (WriteStack stack : stacks) {
                    if (termination.await(1)) {
                        return false;
                    }
                    String what = "%s, %s processes".formatted(stack.name(), count);
                    progress.percent(done, total, what);
                    add(stack.name(), count, stack.measure(load, count));
                    progress.percent(++done, total, what);
                }
            }
        }
        return true;
    }

    private void add(String stack, int count, List<Measured> all) {
        all.stream()
                .collect(
                        Collectors.groupingBy(
                                one -> List.of(one.size(), one.isMixed()),
                                LinkedHashMap::new,
                                Collectors.toList()))
                .values()
                .forEach(senders -> row(stack, count, senders.get(0)).add(senders));
    }

    private Row row(String stack, int count, Measured one) {
        return rows.computeIfAbsent(
                List.of(stack, count, one.size(), one.isMixed()),
                key -> new Row(stack, count, one));
    }

    /** A process that waits for a processor makes durations those of the system's time slices. */
    private boolean isTimed(int count) {
        return count <= processors;
    }

    /** What is not compared, and why; empty: nothing. */
    String restriction() {
        List<String> beyond =
                processes.stream().filter(n -> !isTimed(n)).map(n -> n.toString()).toList();
        return beyond.isEmpty()
                ? ""
                : "With %s processes on %s processors durations are not compared, bandwidth only."
                        .formatted(String.join(", ", beyond), processors);
    }

    /** Pictures, table, points. */
    void report(ResultReport report) {
        for (int count : processes) {
            switch (which) {
                case fig3 -> {
                    if (isTimed(count)) {
                        chart(report, count, false, "Duration of a round", "us", Row::roundUs);
                    }
                }
                case fig4 ->
                        chart(
                                report,
                                count,
                                false,
                                "Bandwidth of a sender",
                                "MB/s",
                                Row::megabytesPerSecond);
                default -> {
                    String name = "Bandwidth of all senders";
                    chart(report, count, false, name, "MB/s", Row::allMegabytesPerSecond);
                    String mixed = name + ", with small messages";
                    chart(report, count, true, mixed, "MB/s", Row::allMegabytesPerSecond);
                }
            }
        }
        report.table(HEAD, rows.values().stream().map(this::cells).toList());
        points(report);
    }

    private void chart(
            ResultReport report,
            int count,
            boolean isMixed,
            String name,
            String unit,
            ToDoubleFunction<Row> value) {
        Chart chart = new Chart(name, "bytes of a message", unit, which.isOfDuration()).bytes();
        for (WriteStack each : stacks) {
            String stack = each.name();
            List<Row> line =
                    rows.values().stream()
                            .filter(
                                    row ->
                                            row.stack.equals(stack)
                                                    && row.processes == count
                                                    && row.isMixed == isMixed)
                            .toList();
            double[] xs = line.stream().mapToDouble(row -> row.size).toArray();
            double[] ys = line.stream().mapToDouble(value).toArray();
            chart.line(stack, xs, ys, true);
        }
        report.chart("%s: %s senders to %s receivers".formatted(name, count / 2, count / 2), chart);
    }

    private List<String> cells(Row row) {
        return List.of(
                row.stack,
                Integer.toString(row.processes),
                Integer.toString(row.size),
                row.isMixed ? "yes" : "no",
                isTimed(row.processes) ? Text.format("%.2f", row.roundUs()) : "not compared",
                Text.format("%,.0f", row.megabytesPerSecond()),
                Text.format("%,.0f", row.allMegabytesPerSecond()));
    }

    private void points(ResultReport report) {
        for (Row row : rows.values()) {
            Map<String, Object> point = new LinkedHashMap<>();
            point.put("stack", row.stack);
            point.put("processes", row.processes);
            point.put("bytes", row.size);
            point.put("mixed", row.isMixed);
            if (isTimed(row.processes)) {
                point.put("us_per_round", row.roundUs());
            }
            point.put("sender_MB_per_s", row.megabytesPerSecond());
            point.put("all_MB_per_s", row.allMegabytesPerSecond());
            report.point(point);
        }
    }

    /** The table, for people who look at a terminal. */
    List<String> lines() {
        List<String> lines = new ArrayList<>();
        String format = "%-9s %9s %9s %6s %13s %12s %12s";
        lines.add(
                format.formatted(
                        "stack",
                        "processes",
                        "bytes",
                        "small",
                        "us/round",
                        "MB/s each",
                        "MB/s all"));
        rows.values().forEach(row -> lines.add(format.formatted(cells(row).toArray())));
        return lines;
    }
}
