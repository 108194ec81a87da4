package dev.verbena.cli.experiment;

import static dev.verbena.cli.experiment.ExperimentSamples.HEADER;
import static dev.verbena.cli.experiment.ExperimentSamples.TOTAL;
import static dev.verbena.cli.experiment.ExperimentSamples.WAIT;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * E3: compute times beyond the knee (figure 10): times per process, their distribution at twice the
 * knee (benchmark D3), numbers of buffers (D5) and of servers (D6), and a send that need not wait.
 */
final class ExperimentBeyond {
    private static final double TUNED = 1.1;
    private static final double AMPLE = 2;
    private static final int WARM_UP = 5;
    private static final long POLL_NS = 100_000;

    private final ExperimentRun run;
    private final int clients;
    private final int steps;

    ExperimentBeyond(ExperimentRun run) {
        this.run = run;
        clients = run.clients(run.isQuick() ? 8 : 32).get(0);
        steps = run.steps(run.isQuick() ? 12 : 20);
    }

    void run() throws Exception {
        ExperimentTable[] tables =
                run.options.only == null
                        ? new ExperimentTable[] {tuned(), ample(), buffers(), servers(), latency()}
                        : new ExperimentTable[] {latency()};
        run.expect(tables);
        for (ExperimentTable table : tables) {
            run.perform(table);
        }
    }

    private ExperimentPoint point(double multiple) {
        ExperimentPoint point = run.point(Manner.MESSAGE, clients, steps, WARM_UP);
        return run.computing(point, multiple * point.kneeNs());
    }

    private static double waitShare(ExperimentTable.Row row) {
        long computeNs = row.result().point().load().computeNs();
        return row.result().mean(WAIT) / Math.max(1, computeNs);
    }

    private static ExperimentTable withTimes(ExperimentTable table) {
        return table.head("")
                .mean("th us", HEADER, 1e3)
                .mean("tw us", WAIT, 1e3)
                .mean("tt us", TOTAL, 1e3)
                .column("tw p99 us", row -> us(row, WAIT, 99))
                .column("tt p99 us", row -> us(row, TOTAL, 99))
                .column("tw / C", ExperimentBeyond::waitShare);
    }

    private static double us(ExperimentTable.Row row, int field, double share) {
        return row.result().percentile(field, share) / 1e3;
    }

    private ExperimentTable tuned() {
        ExperimentTable table =
                new ExperimentTable(
                        "Compute time tuned (figure 10)",
                        ("N = %s, compute time 1.1 x knee: the receiver just keeps up, and "
                                        + "sending costs next to nothing.")
                                .formatted(clients));
        table.row("1.1 x knee").measure("tuned compute time", point(TUNED));
        return withTimes(table)
                .chart("Time in the library", rows -> perProcess(rows.get(0).result()))
                .figures(
                        (rows, report) ->
                                report.figure(
                                        "tw / compute at 1.1 knee",
                                        rows.get(0).result().mean(WAIT)
                                                / rows.get(0).result().point().load().computeNs()));
    }

    private Chart perProcess(ExperimentResult result) {
        String sums = "sum over " + (steps - WARM_UP) + " steps, s, log";
        return new Chart("time in the library", "process", sums, true)
                .line("tt", clients, rank -> seconds(result, rank, TOTAL), true)
                .line("tw", clients, rank -> seconds(result, rank, WAIT), true)
                .line("th", clients, rank -> seconds(result, rank, HEADER), true);
    }

    private static double seconds(ExperimentResult result, int rank, int field) {
        return result.samples().sum(rank, field, WARM_UP) / 1e9;
    }

    private ExperimentTable ample() {
        ExperimentTable table =
                new ExperimentTable(
                        "Distribution at twice the knee",
                        "Most of these processes have slept when they send, so the times include"
                                + " cold caches and the scheduler.");
        table.row("2 x knee").measure("twice the knee", point(AMPLE));
        return table.percentiles(
                List.of("", "th us", "tw us", "tt us"),
                new int[] {50, 90, 99, 100},
                (rows, share) ->
                        IntStream.of(HEADER, WAIT, TOTAL)
                                .mapToDouble(field -> us(rows.get(0), field, share))
                                .toArray());
    }

    private ExperimentTable buffers() {
        ExperimentTable table =
                new ExperimentTable(
                        "Number of buffers",
                        "The paper found three for two processes by experiment. Compute time 1.1 x"
                                + " knee.");
        double[] shares = run.isQuick() ? new double[] {0.5, 1.5} : new double[] {0.5, 1, 1.5, 2};
        for (double share : shares) {
            int count = Math.max(1, (int) Math.ceil(share * clients));
            table.row(share + " x N").measure(count + " buffers", point(TUNED).served(1, count));
        }
        return withTimes(table)
                .chart(
                        "Waiting by number of buffers",
                        new Chart("waiting by number of buffers", "buffers / N", "tw / C", false),
                        row -> shares[table.rows().indexOf(row)])
                .curve("tw / C", ExperimentBeyond::waitShare);
    }

    private ExperimentTable servers() {
        ExperimentTable table =
                new ExperimentTable(
                        "Number of servers",
                        "The master deals processes out in turn. One receiver, whose rate all"
                                + " servers share: more servers help where a server's own processor"
                                + " is what is short, which is not so on this machine.");
        for (int count : run.isQuick() ? new int[] {2} : new int[] {1, 2, 4}) {
            table.row("").measure(count + " servers", point(TUNED).served(count, 0));
        }
        return withTimes(table)
                .naming(
                        row -> {
                            int[] served = new int[row.result().point().service().servers()];
                            for (ExperimentResult.ClientTime client : row.result().perClient()) {
                                served[client.server()]++;
                            }
                            return served.length + " servers, processes " + Arrays.toString(served);
                        });
    }

    /** A send that need not wait: to a server that is awake, that has to be woken, that polls. */
    private ExperimentTable latency() {
        ExperimentTable table =
                new ExperimentTable(
                        "A send that need not wait",
                        "One process, messages of 4 KiB thrown away at the server, up to 16 in"
                                + " flight, a busy wait of 2 us between them: the server looks at"
                                + " its queue all the time. And of 1 ms: it sleeps, and the sender"
                                + " pays for the system call that wakes it, which on a virtual"
                                + " machine wakes a processor; or it sleeps at most 100 us"
                                + " (pollNs), and nobody has to wake it.");
        int awake = run.isQuick() ? 40_000 : 100_000;
        int asleep = run.isQuick() ? 1_000 : 4_000;
        String progress = "a send that need not wait";
        table.row("awake").measure(progress, sending(2e3, awake, 0));
        table.row("asleep").measure(progress, sending(1e6, asleep, 0));
        table.row("polling").measure(progress, sending(1e6, asleep, POLL_NS));
        return table.percentiles(
                        List.of(
                                "tt",
                                "server awake, us",
                                "server asleep, us",
                                "server polling, us"),
                        new int[] {50, 90, 99},
                        (rows, share) ->
                                rows.stream().mapToDouble(r -> us(r, TOTAL, share)).toArray())
                .figures(
                        (rows, report) -> {
                            String figure = "send that need not wait, server %s, p50 us";
                            for (ExperimentTable.Row row : rows) {
                                report.figure(figure.formatted(row.name()), us(row, TOTAL, 50));
                            }
                        });
    }

    private ExperimentPoint sending(double computeNs, int count, long pollNs) {
        return run.point(Manner.MESSAGE, 1, count, 0)
                .limited(ExperimentPoint.DISCARD)
                .sized(4 << 10, count, count / 2)
                .computing(computeNs)
                .served(1, 32)
                .inFlight(16)
                .polling(pollNs);
    }
}
