package dev.verbena.cli.sim;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.LinkDetails;
import dev.verbena.nsim.network.LinkStatistics;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** How much cables were used in the course of a run: on average, and the busiest. One thread. */
final class SimSeries {
    private static final double PERCENT = 100;

    private final LinkStatistics links;
    private final double[] beginUs;
    private final double[] mean;
    private final double[] most;
    private final int[] busiest;

    SimSeries(SimulationResult result) {
        LinkDetails details = result.details();
        links = result.links();
        int count = details.intervals();
        beginUs = new double[count];
        mean = new double[count];
        most = new double[count];
        busiest = new int[count];
        for (int i = 0; i < count; i++) {
            beginUs[i] = i * details.intervalPs() / 1e6;
            double sum = 0;
            int cables = 0;
            for (int link = 0; link < links.count(); link++) {
                if (links.isConnected(link)) {
                    double part = details.busyPs(link, i) / (double) details.intervalPs();
                    sum += part;
                    cables++;
                    if (part > most[i]) {
                        most[i] = part;
                        busiest[i] = link;
                    }
                }
            }
            mean[i] = sum / Math.max(1, cables);
        }
    }

    Chart chart() {
        return new Chart("use of cables", "virtual time, us", "busy, %", false)
                .line("mean of all", beginUs, percent(mean), false)
                .line("busiest at the time", beginUs, percent(most), false);
    }

    private static double[] percent(double[] parts) {
        return Arrays.stream(parts).map(part -> PERCENT * part).toArray();
    }

    void write(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("begin_us,mean_busy_part,busiest,busiest_busy_part\n");
            for (int i = 0; i < mean.length; i++) {
                out.write(
                        Text.format(
                                "%.6f,%.6f,%s,%.6f%n",
                                beginUs[i],
                                mean[i],
                                most[i] > 0 ? SimReport.name(links, busiest[i]) : "",
                                most[i]));
            }
        }
    }
}
