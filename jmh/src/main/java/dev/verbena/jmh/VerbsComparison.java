package dev.verbena.jmh;

import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.verbs.PortAttributes;
import dev.verbena.verbs.RdmaDevice;
import dev.verbena.verbs.RdmaDevices;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * {@code verbena lat} and {@code bw} over a device beside perftest's programs and beside the same
 * loops in C ({@code verbs_twin.c}), taking turns, everything in one run. Arguments: the twin's
 * program, how many rounds, and optionally names of rows. Run by {@code ./verbena compare verbs},
 * in the virtual machine where there is no device. Prints rows for docs/verbs.md.
 */
public final class VerbsComparison {
    /** A row: a program of perftest without its "ib_", a length, and how many messages. */
    record Row(String tool, int size, int count) {
        String name() {
            return tool + "-" + size;
        }

        boolean isLatency() {
            return tool.endsWith("lat");
        }

        /** The row of this name; behind a colon, so many messages in place of its own number. */
        static Row of(String text) {
            String[] parts = text.split(":", 2);
            for (Row row : ROWS) {
                if (row.name().equals(parts[0]) && (parts.length == 1 || isCount(parts[1]))) {
                    return parts.length == 1
                            ? row
                            : new Row(row.tool, row.size, Integer.parseInt(parts[1]));
                }
            }
            System.err.println(
                    text + " is no row, or no row and a number as in write_lat-64:500; " + NAMES);
            System.exit(2);
            throw new AssertionError();
        }

        /** The table's line, of what the rounds gave. */
        String line(double[] perftest, double[] twin, double[] java) {
            List<String> cells = new ArrayList<>();
            cells.add("`" + tool + "`, " + (isLatency() ? "us" : "MiB/s"));
            cells.add(Integer.toString(size));
            for (double[] values : List.of(perftest, twin, java)) {
                cells.add(String.format(Locale.ROOT, "%.1f", Samples.median(values)));
            }
            cells.add(Samples.ratios(java, perftest));
            cells.add(Samples.ratios(java, twin));
            cells.add(Samples.ratios(twin, perftest));
            return "| " + String.join(" | ", cells) + " |";
        }

        private static boolean isCount(String text) {
            return text.matches("[1-9][0-9]{1,6}");
        }
    }

    private static final List<Row> ROWS =
            List.of(
                    new Row("write_lat", 2, 4000),
                    new Row("write_lat", 64, 4000),
                    new Row("write_lat", 1024, 4000),
                    new Row("write_lat", 4096, 4000),
                    new Row("write_lat", 16_384, 1500),
                    new Row("write_lat", 65_536, 600),
                    new Row("read_lat", 64, 4000),
                    new Row("send_lat", 64, 4000),
                    new Row("write_bw", 64, 10_000),
                    new Row("write_bw", 4096, 5000),
                    new Row("write_bw", 65_536, 800),
                    new Row("read_bw", 65_536, 800),
                    new Row("send_bw", 65_536, 800));

    private static final List<String> NAMES = ROWS.stream().map(Row::name).toList();
    private static final int WARM_UPS = 4;
    private static final int WARM_UP_FACTOR = 4;

    private final Set<String> warmTools = new HashSet<>();
    private final VerbsContestants contestants;
    private final int rounds;

    private VerbsComparison(VerbsContestants contestants, int rounds) {
        this.contestants = contestants;
        this.rounds = rounds;
    }

    /** Runs. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length < 2 || !arguments[1].matches("[1-9][0-9]{0,2}")) {
            System.err.println("arguments: VERBS_TWIN ROUNDS [ROW[:COUNT]...]; rows: " + NAMES);
            System.exit(2);
        }
        List<Row> wanted = Arrays.stream(arguments).skip(2).map(Row::of).toList();
        VerbsContestants contestants = contestants(arguments[0]);
        new VerbsComparison(contestants, Integer.parseInt(arguments[1]))
                .run(wanted.isEmpty() ? ROWS : wanted);
        System.exit(0); // whatever a failed measurement left behind
    }

    private static VerbsContestants contestants(String twin) {
        String cause = RdmaDevices.unavailabilityCause();
        if (cause == null) {
            for (var info : RdmaDevices.list()) {
                try (RdmaDevice device = RdmaDevices.open(info.name())) {
                    if (device.port(1).state() == PortAttributes.ACTIVE) {
                        return new VerbsContestants(
                                twin, info.name(), device.chooseGid(1).entry().index());
                    }
                }
            }
            cause = "no RDMA device here has an active port 1";
        }
        throw new IllegalStateException(cause);
    }

    private void run(List<Row> rows) throws Exception {
        System.out.println(environment());
        System.out.println();
        System.out.println(
                "| what | bytes | perftest | C twin | Java | Java over perftest | Java over the"
                        + " twin | twin over perftest |\n|---|---|---|---|---|---|---|---|");
        for (Row row : rows) {
            System.out.println(take(row));
        }
        System.out.printf(
                "%nperftest was run again %s times, for its clock had failed%n",
                contestants.runsAgain());
    }

    private String environment() {
        return String.format(
                "Device %s, %s, %s processors, Linux %s, Java %s; medians of %s rounds",
                contestants.device(),
                ThisMachine.processor(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("os.version"),
                System.getProperty("java.version"),
                rounds);
    }

    /** For the compiler: much once for each tool, as the loops are different ones. */
    private void warmUp(Row row) throws Exception {
        int warmUps = warmTools.add(row.tool) ? WARM_UPS : 0;
        for (int i = 0; i < warmUps; i++) {
            contestants.java(row.tool, row.size, WARM_UP_FACTOR * row.count);
        }
        contestants.java(row.tool, row.size, row.count);
    }

    /** Who begins changes from round to round. */
    private String take(Row row) throws Exception {
        warmUp(row);
        double[] perftest = new double[rounds];
        double[] twin = new double[rounds];
        double[] java = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            System.err.printf("%s round %d of %d%n", row.name(), round + 1, rounds);
            for (int turn = 0; turn < 3; turn++) {
                switch ((turn + round) % 3) {
                    case 0 -> perftest[round] = contestants.perftest(row.tool, row.size, row.count);
                    case 1 -> java[round] = contestants.java(row.tool, row.size, row.count);
                    default -> twin[round] = contestants.twin(row.tool, row.size, row.count);
                }
            }
        }
        return row.line(perftest, twin, java);
    }
}
