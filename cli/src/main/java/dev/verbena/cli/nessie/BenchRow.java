package dev.verbena.cli.nessie;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.nessie.xfer.XferMethod;
import dev.verbena.nsim.nessie.NessieScaling;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.DoubleSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** One line of the table of {@code nessie bench}: a program that prints a figure. One thread. */
final class BenchRow {
    /**
     * Bytes of a request without arguments and bulk data, and of its answer, with what NNTI puts
     * before them (specification, section 2.3).
     */
    static final int NULL_REQUEST_LENGTH = 44;

    private static final String HALF_NS = "\"halfNs\": ?([0-9.E]+)";
    private static final String MICROSECONDS = "\"us\":([0-9.]+)";
    private static final String BATCH_NS = "\"batchMedianNs\": ?([0-9.]+)";
    private static final String MEGABYTES = "\"medianMBps\": ?([0-9.E]+)";

    /** The last column of a table's row. */
    private static final String LAST_COLUMN = "(?m)^ *[0-9]+ .*?([0-9.]+)\\s*$";

    private static final String MPI_MEGABYTES = "MB/s ([0-9.]+)";

    /** 2^20 bytes, of the transfer service, in 10^6. */
    private static final double MEGABYTE = 1.048576;

    private static final long LIMIT_MS = 120_000;

    private final String group;
    private final String name;
    private final String unit;
    private final List<String> arguments;
    private final Pattern figure;
    private final double scale;
    private final BenchRow base;

    /** Where it is on a line of a picture; 0: on none. */
    private final int x;

    private final List<Double> samples = new ArrayList<>();

    /** The arguments are a whole command. */
    private boolean isForeign;

    /** Instead of a program; the same each time. */
    private DoubleSupplier simulated;

    private BenchRow(
            String group,
            String name,
            String unit,
            List<String> arguments,
            String figure,
            double scale,
            BenchRow base,
            int x) {
        this.group = group;
        this.name = name;
        this.unit = unit;
        this.arguments = new ArrayList<>(arguments);
        this.figure = Pattern.compile(figure);
        this.scale = scale;
        this.base = base;
        this.x = x;
    }

    /** All, each behind the one that it is compared with. */
    static List<BenchRow> of(String scheme, boolean isQuick) {
        List<BenchRow> rows = new ArrayList<>();
        addNull(scheme, rows);
        addBulk(scheme, "write", "get", rows);
        addBulk(scheme, "read", "put", rows);
        addEncode(scheme, "write", rows);
        addEncode(scheme, "read", rows);
        for (String method : List.of("write", "read")) {
            for (int count = 1; count <= 8; count *= 2) {
                rows.add(
                        xfer(
                                scheme,
                                "clients",
                                method + "_rdma, clients: " + count,
                                method + "-rdma-async",
                                count,
                                null));
            }
        }
        for (boolean isWrite : new boolean[] {true, false}) {
            for (int count = 1; count <= 16; count *= 2) {
                rows.add(torus(count, isWrite));
            }
        }
        if (isQuick) {
            rows.forEach(BenchRow::shorten);
        }
        return rows;
    }

    private void shorten() {
        if (arguments.contains("lat") || arguments.contains("bw")) {
            arguments.add("--iterations=20");
        } else if (arguments.contains("bench-part")) {
            arguments.add("--quick");
        }
    }

    /** In the simulator: one node for each client. */
    private static BenchRow torus(int clients, boolean isWrite) {
        String name = "torus, %s, clients: %s".formatted(isWrite ? "write" : "read", clients);
        BenchRow row = new BenchRow("torus", name, "MB/s", List.of(), "", 1e-6, null, clients);
        row.simulated =
                () ->
                        NessieScaling.bytesPerSecond(
                                GridTopology.torus(TieRule.POSITIVE, 3, 3, 3),
                                new NetworkContext(),
                                clients,
                                isWrite);
        return row;
    }

    private static void addNull(String scheme, List<BenchRow> rows) {
        String length = NULL_REQUEST_LENGTH + " B";
        List<String> sending =
                List.of(
                        "lat",
                        "--transport=" + scheme,
                        "--op=send",
                        "--size=" + NULL_REQUEST_LENGTH,
                        "--json");
        String sendName = "send of " + length + ", there and back";
        BenchRow send = new BenchRow("null", sendName, "ns", sending, BATCH_NS, 2, null, 0);
        List<String> calling = part(scheme, "nothing");
        rows.add(send);
        rows.add(new BenchRow("null", "null RPC", "ns", calling, HALF_NS, 2, send, 0));
        addPeer("AeronIpcPeer", "Aeron IPC, " + length + ", two threads", "200000", "", rows);
        addPeer("GrpcPeer", "gRPC, " + length + ", two processes, TCP", "20000", "direct", rows);
    }

    /** A program of another package, where the benchmarks' class path has it. */
    private static void addPeer(
            String type, String name, String count, String setting, List<BenchRow> rows) {
        String main = "dev.verbena.jmh.peers." + type;
        String file = "/" + main.replace('.', '/') + ".class";
        if (BenchRow.class.getResource(file) == null) {
            return;
        }
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.add("-XX:+UseSerialGC");
        words.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
        words.addAll(List.of(Integer.toString(NULL_REQUEST_LENGTH), count, setting));
        BenchRow row = new BenchRow("null", name, "ns", words, MICROSECONDS, 2000, null, 0);
        row.isForeign = true;
        rows.add(row);
    }

    private static void addBulk(String scheme, String call, String raw, List<BenchRow> rows) {
        List<String> moving =
                List.of(
                        "bw",
                        "--transport=" + scheme,
                        "--op=" + raw,
                        "--size=4m",
                        "--window=" + BenchPeer.OUTSTANDING,
                        "--json");
        String name = raw + " of 4 MiB, 8 outstanding";
        BenchRow base = new BenchRow(call, name, "MB/s", moving, MEGABYTES, 1, null, 0);
        String what = "write".equals(call) ? "pulled by the server" : "pushed by the server";
        rows.add(base);
        rows.add(
                new BenchRow(
                        call,
                        "RPC, 4 MiB " + what + ", 8 outstanding",
                        "MB/s",
                        part(scheme, call),
                        MEGABYTES,
                        1,
                        base,
                        0));
    }

    private static void addEncode(String scheme, String method, List<BenchRow> rows) {
        BenchRow encode =
                xfer(
                        scheme,
                        "encode",
                        method + "_encode, 1 MiB",
                        method + "-encode-async",
                        1,
                        null);
        rows.add(encode);
        String name = method + "_rdma, 1 MiB";
        rows.add(xfer(scheme, "encode", name, method + "-rdma-async", 1, encode));
    }

    private static List<String> part(String scheme, String figure) {
        return List.of("nessie", "bench-part", figure, "--transport=" + scheme);
    }

    private static BenchRow xfer(
            String scheme, String group, String name, String method, int clients, BenchRow base) {
        List<String> words = xfer(scheme, method, 65_536, 4, 64 / clients, clients);
        return new BenchRow(group, name, "MB/s", words, LAST_COLUMN, MEGABYTE, base, clients);
    }

    /** Of one client, for a line over the bytes of a request. */
    static BenchRow xfer(
            String group,
            String scheme,
            XferMethod method,
            int count,
            int requests,
            int trials,
            int bytes) {
        String name = method.name().toLowerCase(Locale.ROOT) + ", bytes: " + bytes;
        List<String> words = xfer(scheme, method + "-async", count, requests, trials, 1);
        return new BenchRow(group, name, "MB/s", words, LAST_COLUMN, MEGABYTE, null, bytes);
    }

    /** A whole command, for a line over the bytes of a request. */
    static BenchRow ofMpi(String group, String line, List<String> command, int bytes) {
        String name = line + ", bytes: " + bytes;
        BenchRow row =
                new BenchRow(group, name, "MB/s", command, MPI_MEGABYTES, MEGABYTE, null, bytes);
        row.isForeign = true;
        return row;
    }

    private static List<String> xfer(
            String scheme, String method, int count, int requests, int trials, int clients) {
        return List.of(
                "nessie",
                "xfer",
                "--transport=" + scheme,
                "--io-method=" + method,
                "--len=" + count,
                "--num-reqs=" + requests,
                "--num-trials=" + trials,
                "--clients=" + clients,
                "--validate=none",
                "--timeout=30000");
    }

    String group() {
        return group;
    }

    String name() {
        return name;
    }

    String unit() {
        return unit;
    }

    /** What it is compared with, or null. */
    BenchRow base() {
        return base;
    }

    int x() {
        return x;
    }

    boolean isForeign() {
        return isForeign;
    }

    /** Whether it is a point of this line, over clients or bytes. */
    boolean isOfLine(String line, String over) {
        return x > 0 && name.startsWith(line + ", " + over);
    }

    List<Double> samples() {
        return List.copyOf(samples);
    }

    /** Median of the samples. */
    double value() {
        double[] sorted = samples.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted[sorted.length / 2];
    }

    /**
     * Takes a sample.
     *
     * @param folder where the program's output is kept for the time being
     * @throws Messages.Failure with what it printed, if it failed
     */
    void measure(Path folder) throws IOException, InterruptedException {
        if (simulated != null) {
            samples.add(samples.isEmpty() ? scale * simulated.getAsDouble() : samples.get(0));
            return;
        }
        if (isForeign) {
            samples.add(figureOf(outputOfForeign()));
            return;
        }
        Path log = folder.resolve("output");
        ChildProcess child =
                ChildProcess.start(name, log, Map.of(), List.of("-Xmx512m"), arguments, line -> {});
        try {
            boolean isEnded = child.waitFor(LIMIT_MS);
            if (!isEnded || child.exitCode() != 0) {
                throw new Messages.Failure(name + ": " + child.exitSummary());
            }
            samples.add(figureOf(Files.readString(log)));
        } finally {
            child.end(1000);
            Files.deleteIfExists(log);
        }
    }

    private String outputOfForeign() throws IOException, InterruptedException {
        Process process = new ProcessBuilder(arguments).redirectErrorStream(true).start();
        try {
            process.getOutputStream().close();
            return new String(process.getInputStream().readAllBytes(), UTF_8);
        } finally {
            process.destroyForcibly().waitFor();
        }
    }

    private double figureOf(String text) {
        Matcher matcher = figure.matcher(text);
        double value = Double.NaN;
        while (matcher.find()) {
            value = Double.parseDouble(matcher.group(1)) * scale;
        }
        if (Double.isNaN(value)) {
            throw new Messages.Failure(
                    "%s: no figure in: %s", name, Arrays.toString(text.split("\n")));
        }
        return value;
    }
}
