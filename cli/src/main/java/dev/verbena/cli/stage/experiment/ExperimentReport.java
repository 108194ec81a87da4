package dev.verbena.cli.stage.experiment;

import dev.verbena.cli.report.Bars;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** The measured points as the paper's figures, and what each method costs the client. */
final class ExperimentReport {
    private final ExperimentPlan plan;
    private final int datasets;
    private final ResultReport report =
            new ResultReport("In-transit staging: the paper's experiment");

    ExperimentReport(ExperimentPlan plan, int datasets, int runs) {
        this.plan = plan;
        this.datasets = datasets;
        Trial first = plan.trials().get(0);
        report.section(
                "What was measured",
                String.format(
                        Locale.ROOT,
                        "%s datasets of %.1f MB from one mapped source, %.2f GB in all, %s runs of"
                                + " each point; means with 95 %% confidence intervals. A run is from"
                                + " connecting until the staging machine has every dataset, on disk"
                                + " until they are forced. Everything runs on one machine.",
                        datasets,
                        first.bytes / 1e6,
                        first.bytes * datasets / 1e9,
                        runs));
    }

    ResultReport report() {
        blocks();
        sizes();
        methods();
        plan.trials().forEach(trial -> report.point(trial.fields(datasets)));
        return report;
    }

    private void blocks() {
        report.section("Figures 3 and 4: block size", "Staging into memory.");
        for (String figure : List.of(ExperimentPlan.BLOCKS_ONE, ExperimentPlan.BLOCKS_FOUR)) {
            List<Trial> trials = plan.of(figure);
            int threads = trials.get(0).threads;
            String caption = "Figure %s: %s I/O thread%s".formatted(figure, threads, s(threads));
            Chart chart = new Chart(caption, "block, MiB", "seconds", false).doubling();
            chart.line(
                    caption,
                    "one",
                    values(trials, each -> each.blockMebibytes),
                    values(trials, each -> each.seconds().mean()),
                    values(trials, each -> each.seconds().half()));
            report.chart(caption, chart);
            table("block, MiB", trials, each -> Integer.toString(each.blockMebibytes));
        }
    }

    private static String s(int count) {
        return count == 1 ? "" : "s";
    }

    private static double[] values(List<Trial> trials, ToDoubleFunction<Trial> value) {
        return trials.stream().mapToDouble(value).toArray();
    }

    private void table(
            String name, List<Trial> trials, java.util.function.Function<Trial, String> naming) {
        List<List<String>> rows = new ArrayList<>();
        for (Trial trial : trials) {
            rows.add(
                    List.of(
                            naming.apply(trial),
                            trial.seconds().text("%.3f"),
                            trial.interval(s -> rate(trial, s)).text("%.2f")));
        }
        report.table(List.of(name, "seconds", "GB/s"), rows);
    }

    private double rate(Trial trial, Trial.Sample sample) {
        return trial.bytes * datasets / 1e9 / sample.seconds();
    }

    private void sizes() {
        List<Trial> trials = plan.of(ExperimentPlan.SIZES);
        double[] megabytes = values(trials, each -> each.bytes / 1e6);
        double[] seconds = values(trials, each -> each.seconds().mean());
        LineFit fit = LineFit.of(megabytes, seconds);
        report.section(
                "Figure 5: size of the datasets",
                String.format(
                        Locale.ROOT,
                        "1 I/O thread, blocks of at most %s MiB. The line is fitted: %.4f s + %.4f s"
                                + " for each MB of a dataset, R² = %.4f.",
                        trials.get(0).blockMebibytes,
                        fit.offset(),
                        fit.slope(),
                        fit.square()));
        String caption = "Figure 5: time by size";
        report.chart(
                caption,
                new Chart(caption, "dataset, MB", "seconds", false)
                        .line(
                                "measured",
                                "one",
                                megabytes,
                                seconds,
                                values(trials, each -> each.seconds().half()))
                        .line("fitted", "dash", megabytes, fit.at(megabytes), false));
        table("dataset, MB", trials, each -> number(each.bytes / 1e6));
        report.figure("figure 5, R squared of a straight line", number(fit.square()));
    }

    private static String number(double value) {
        return String.format(Locale.ROOT, "%.4g", value);
    }

    private void methods() {
        report.section(
                "Figure 6: methods",
                "1 I/O thread. With a loop beside it a thread computes without pause; slowing is the"
                        + " time of its work over the time without a transfer. Client: the compute"
                        + " process, or scp and its ssh; through ssh -L also the first ssh. Switches of"
                        + " scp are those seen 20 ms before its end at the latest.");
        Bars bars = new Bars("Figure 6: time by method", "seconds");
        List<List<String>> rows = new ArrayList<>();
        for (Method method : Method.values()) {
            Trial quiet = plan.of(method, false);
            if (quiet != null) {
                Interval seconds = quiet.seconds();
                bars.bar(method.text, method.needsSsh, seconds.mean(), seconds.half());
                rows.add(row(quiet, plan.of(method, true)));
                report.figure(method.text + ", s", seconds.text("%.3f"));
            }
        }
        report.bars("Figure 6: time by method", bars);
        report.table(
                List.of(
                        "method",
                        "seconds",
                        "GB/s",
                        "client CPU, s/GB",
                        "client's switches",
                        "seconds, loop beside",
                        "loop slowed by"),
                rows);
        ratio(Method.SCP_MEMORY, Method.STAGED_MEMORY, "4");
        ratio(Method.SCP_DISK, Method.STAGED_MEMORY, "18");
    }

    private List<String> row(Trial quiet, Trial loud) {
        double gigabytes = quiet.bytes * datasets / 1e9;
        return List.of(
                quiet.method.text,
                quiet.seconds().text("%.3f"),
                quiet.interval(s -> rate(quiet, s)).text("%.2f"),
                quiet.interval(s -> s.cpuSeconds() / gigabytes).text("%.3f"),
                quiet.interval(Trial.Sample::switches).text("%.0f"),
                loud.seconds().text("%.3f"),
                loud.interval(Trial.Sample::slowing).text("%.2f"));
    }

    private void ratio(Method slow, Method quick, String paper) {
        Trial above = plan.of(slow, false);
        if (above != null) {
            double ratio = above.seconds().mean() / plan.of(quick, false).seconds().mean();
            report.figure(
                    "%s over %s (paper: %s)".formatted(slow.text, quick.text, paper),
                    number(ratio));
        }
    }
}
