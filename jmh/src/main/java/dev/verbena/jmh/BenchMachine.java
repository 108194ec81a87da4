package dev.verbena.jmh;

import dev.verbena.jmh.BenchProgram.Reading;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Verbs beside perftest and beside C, by {@code ci/rdma-vm/compare}: over this system's device, or
 * in a virtual machine with a software one. It makes its own rounds, in one boot, so it runs in the
 * first round only.
 */
final class BenchMachine {
    /** Two boots and some rows without KVM. */
    private static final long TIMEOUT_SECONDS = 1800;

    /** Cells of a row: tool and unit, bytes, perftest, C twin, Java. */
    private static final Pattern ROW =
            Pattern.compile(
                    "(?m)^\\| `(\\w+)`, (us|MiB/s) \\| (\\d+) \\| ([\\d.]+) \\| ([\\d.]+) \\|"
                            + " ([\\d.]+) \\|");

    private static final List<String> TOOLS =
            List.of("write_lat", "read_lat", "send_lat", "write_bw", "read_bw", "send_bw");

    private final Contestant compare;
    private final Set<String> answered = new HashSet<>();
    private String said;

    private BenchMachine(Contestant compare) {
        this.compare = compare;
    }

    /**
     * A group for each of perftest's programs.
     *
     * @param command the script and its arguments
     */
    static List<BenchGroup> groups(List<String> command) {
        BenchMachine machine =
                new BenchMachine(
                        new Contestant("perftest", command, Map.of(), Pattern.compile("\\G"), 1));
        List<BenchGroup> groups = new ArrayList<>();
        for (String tool : TOOLS) {
            boolean isLatency = tool.endsWith("lat");
            String title = "RDMA " + tool.replace("_lat", ", one way").replace("_bw", "s");
            groups.add(
                    new BenchGroup(
                            "verbs-" + tool.replace('_', '-'),
                            title + ", beside perftest's ib_" + tool,
                            isLatency ? BenchProgram.LATENCY : BenchProgram.BANDWIDTH,
                            List.of(new BenchProgram("perftest", () -> machine.readings(tool)))));
        }
        return groups;
    }

    /** The script of a checkout, with three rounds of short rows. */
    static List<String> command(Path checkout, Path twin) {
        return List.of(
                checkout.resolve("ci/rdma-vm/compare").toString(),
                twin.toString(),
                "3",
                "write_lat-64:1000",
                "write_lat-4096:1000",
                "read_lat-64:1000",
                "send_lat-64:1000",
                "write_bw-4096:1000",
                "write_bw-65536:400",
                "read_bw-65536:400",
                "send_bw-65536:400");
    }

    private List<Reading> readings(String tool) throws IOException, InterruptedException {
        if (!answered.add(tool)) {
            return List.of();
        }
        if (said == null) {
            said = "";
            said = compare.output(TIMEOUT_SECONDS);
        } else if (said.isEmpty()) {
            throw new IOException("perftest: see verbs-" + TOOLS.get(0).replace('_', '-'));
        }
        return readings(said, tool);
    }

    /** What the table says of one of perftest's programs. */
    static List<Reading> readings(String table, String tool) {
        List<Reading> readings = new ArrayList<>();
        Matcher row = ROW.matcher(table);
        while (row.find()) {
            if (row.group(1).equals(tool)) {
                boolean isLatency = row.group(2).equals("us");
                String figure = isLatency ? BenchProgram.LATENCY : BenchProgram.BANDWIDTH;
                double scale = isLatency ? 1e3 : Contestants.MEBIBYTES;
                List<String> series = List.of("perftest", "C twin", BenchPlan.OURS);
                for (int side = series.size() - 1; side >= 0; side--) {
                    double value = Double.parseDouble(row.group(4 + side)) * scale;
                    int bytes = Integer.parseInt(row.group(3));
                    readings.add(new Reading(series.get(side), bytes, figure, value));
                }
            }
        }
        return readings;
    }
}
