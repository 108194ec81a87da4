package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * E3: compute times beyond the knee (figure 10): times per process, their distribution at twice the
 * knee (benchmark D3), numbers of buffers (D5) and of servers (D6), and a send that need not wait.
 */
final class ExperimentBeyond {
    private static final double TUNED = 1.1;
    private static final double AMPLE = 2;
    private static final int WARM_UP = 5;
    private static final long POLL_NS = 100_000;
    private static final int[] SERVERS = {1, 2, 4};
    private static final List<String> HEAD =
            List.of("", "th us", "tw us", "tt us", "tw p99 us", "tt p99 us", "tw / C");

    private final ExperimentRun run;
    private final int clients;
    private final int steps;
    private final ResultReport report = new ResultReport("DART experiment 3: beyond the knee");

    ExperimentBeyond(ExperimentRun run) {
        this.run = run;
        clients = run.clients(run.isQuick() ? 8 : 32).get(0);
        steps = run.steps(run.isQuick() ? 12 : 20);
    }

    ResultReport run() throws Exception {
        if (run.options.only != null) {
            run.expect(3);
            latency();
            return report;
        }
        run.expect(run.isQuick() ? 8 : 12);
        tuned();
        ample();
        buffers();
        servers();
        latency();
        return report;
    }

    private ExperimentPoint point(double multiple) {
        ExperimentPoint point = run.point(Manner.MESSAGE, clients, steps, WARM_UP);
        return run.computing(point, multiple * point.kneeNs());
    }

    private static List<String> row(String name, ExperimentResult result) {
        double wait = result.mean(ExperimentSamples.WAIT);
        return ExperimentRun.row(
                name,
                result.mean(ExperimentSamples.HEADER) / 1e3,
                wait / 1e3,
                result.mean(ExperimentSamples.TOTAL) / 1e3,
                result.percentile(ExperimentSamples.WAIT, 99) / 1e3,
                result.percentile(ExperimentSamples.TOTAL, 99) / 1e3,
                wait / Math.max(1, result.point().computeNs()));
    }

    private void tuned() throws Exception {
        ExperimentResult result = run.measure(point(TUNED), "tuned compute time");
        report.point(result.fields());
        double[] x = ExperimentRun.indices(clients);
        double[][] y = new double[3][clients];
        for (int rank = 0; rank < clients; rank++) {
            for (int field = 0; field < 3; field++) {
                y[field][rank] = result.samples().sum(rank, field, WARM_UP) / 1e9;
            }
        }
        report.section(
                "Compute time tuned (figure 10)",
                ("N = %s, compute time 1.1 x knee: the receiver just keeps up, "
                                + "and sending costs next to nothing.")
                        .formatted(clients));
        report.chart(
                "Time in the library",
                new Chart(
                                "time in the library",
                                "process",
                                "sum over " + (steps - WARM_UP) + " steps, s, log",
                                true)
                        .line("tt", "one", x, y[ExperimentSamples.TOTAL], true)
                        .line("tw", "two", x, y[ExperimentSamples.WAIT], true)
                        .line("th", "three", x, y[ExperimentSamples.HEADER], true));
        report.table(HEAD, List.of(row("1.1 x knee", result)));
        report.figure(
                "tw / compute at 1.1 knee",
                result.mean(ExperimentSamples.WAIT) / result.point().computeNs());
    }

    private void ample() throws Exception {
        ExperimentResult result = run.measure(point(AMPLE), "twice the knee");
        report.point(result.fields());
        List<List<String>> rows = new ArrayList<>();
        for (double share : new double[] {50, 90, 99, 100}) {
            rows.add(
                    ExperimentRun.row(
                            share == 100 ? "largest" : "p" + (int) share,
                            result.percentile(ExperimentSamples.HEADER, share) / 1e3,
                            result.percentile(ExperimentSamples.WAIT, share) / 1e3,
                            result.percentile(ExperimentSamples.TOTAL, share) / 1e3));
        }
        report.section(
                "Distribution at twice the knee",
                "Most of these processes have slept when they send, so the times include cold"
                        + " caches and the scheduler.");
        report.table(List.of("", "th us", "tw us", "tt us"), rows);
    }

    private void buffers() throws Exception {
        List<List<String>> rows = new ArrayList<>();
        double[] shares = run.isQuick() ? new double[] {0.5, 1.5} : new double[] {0.5, 1, 1.5, 2};
        double[] waits = new double[shares.length];
        for (int i = 0; i < shares.length; i++) {
            int count = Math.max(1, (int) Math.ceil(shares[i] * clients));
            ExperimentResult result =
                    run.measure(point(TUNED).served(1, count), count + " buffers");
            report.point(result.fields());
            waits[i] = result.mean(ExperimentSamples.WAIT) / result.point().computeNs();
            rows.add(row(shares[i] + " x N", result));
        }
        report.section(
                "Number of buffers",
                "The paper found three for two processes by experiment. Compute time 1.1 x knee.");
        report.chart(
                "Waiting by number of buffers",
                new Chart("waiting by number of buffers", "buffers / N", "tw / C", false)
                        .line("tw / C", "one", shares, waits, true));
        report.table(HEAD, rows);
    }

    private void servers() throws Exception {
        int[] counts = run.isQuick() ? new int[] {2} : SERVERS;
        List<List<String>> rows = new ArrayList<>();
        for (int count : counts) {
            ExperimentResult result =
                    run.measure(point(TUNED).served(count, 0), count + " servers");
            report.point(result.fields());
            int[] served = new int[count];
            for (ExperimentResult.ClientTime client : result.perClient()) {
                served[client.server()]++;
            }
            rows.add(row(count + " servers, processes " + Arrays.toString(served), result));
        }
        report.section(
                "Number of servers",
                "The master deals processes out in turn. One receiver, whose rate all servers"
                        + " share: more servers help where a server's own processor is what is short,"
                        + " which is not so on this machine.");
        report.table(HEAD, rows);
    }

    /** A send that need not wait: to a server that is awake, that has to be woken, that looks. */
    private void latency() throws Exception {
        ExperimentResult awake = latency(2e3, run.isQuick() ? 40_000 : 100_000, 0);
        ExperimentResult asleep = latency(1e6, run.isQuick() ? 1_000 : 4_000, 0);
        ExperimentResult looking = latency(1e6, run.isQuick() ? 1_000 : 4_000, POLL_NS);
        List<List<String>> rows = new ArrayList<>();
        for (double share : new double[] {50, 90, 99}) {
            rows.add(
                    ExperimentRun.row(
                            "p" + (int) share,
                            us(awake, share),
                            us(asleep, share),
                            us(looking, share)));
        }
        report.section(
                "A send that need not wait",
                "One process, messages of 4 KiB thrown away at the server, up to 16 in flight,"
                        + " a busy wait of 2 us between them: the server looks at its queue all the"
                        + " time. And of 1 ms: it sleeps, and the sender pays for the system call"
                        + " that wakes it, which on a virtual machine wakes a processor; or it"
                        + " sleeps at most 100 us (pollNs), and nobody has to wake it.");
        report.table(
                List.of("tt", "server awake, us", "server asleep, us", "server polling, us"), rows);
        report.figure("send that need not wait, server awake, p50 us", us(awake, 50));
        report.figure("send that need not wait, server asleep, p50 us", us(asleep, 50));
        report.figure("send that need not wait, server polling, p50 us", us(looking, 50));
    }

    private static double us(ExperimentResult result, double share) {
        return result.percentile(ExperimentSamples.TOTAL, share) / 1e3;
    }

    private ExperimentResult latency(double computeNs, int count, long pollNs) throws Exception {
        ExperimentPoint point = run.point(Manner.MESSAGE, 1, count, 0);
        point = ExperimentRun.limited(point, ExperimentPoint.DISCARD);
        point = ExperimentRun.sized(point, 4 << 10, count, count / 2);
        point = point.computing(computeNs).served(1, 32).inFlight(16).polling(pollNs);
        ExperimentResult result = run.measure(point, "a send that need not wait");
        report.point(result.fields());
        return result;
    }
}
