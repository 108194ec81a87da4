package dev.verbena.cli.nessie;

import dev.verbena.cli.nessie.BenchRow.Program;
import dev.verbena.cli.transfer.MpiProgram;
import dev.verbena.nessie.xfer.DataArray;
import dev.verbena.nessie.xfer.XferMethod;
import dev.verbena.nsim.nessie.NessieScaling;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The lines of the table of {@code nessie bench}, each behind the one that it is compared with. */
final class BenchRows {
    /** Lines of the picture of transfers to the server. */
    static final List<String> WRITES =
            List.of("write_encode", "write_rdma", "write_rdma_push", "MPI_Isend", "MPI_Put");

    /** Lines of the picture of transfers from the server. */
    static final List<String> READS = List.of("read_encode", "read_rdma", "MPI_Irecv", "MPI_Get");

    private static final String HALF_NS = "\"halfNs\": ?([0-9.E]+)";
    private static final String MICROSECONDS = "\"us\":([0-9.]+)";
    private static final String BATCH_NS = "\"batchMedianNs\": ?([0-9.]+)";
    private static final String MEGABYTES = "\"medianMBps\": ?([0-9.E]+)";

    /** The last column of a table's row. */
    private static final String LAST_COLUMN = "(?m)^ *[0-9]+ .*?([0-9.]+)\\s*$";

    /** As the last but one: seconds. */
    private static final String LAST_BUT_ONE = "(?m)^ *[0-9]+ .*?([0-9.]+) +[0-9.]+\\s*$";

    private static final int CLIENTS_MAX = 8;
    private static final int CALLS_OUTSTANDING = 8;

    /** Bytes of a request, from the shortest to the longest, each so many times the one before. */
    private static final int SMALLEST = 1 << 10;

    private static final int LARGEST = 4 << 20;
    private static final int STEP = 16;

    /** Of a sample, so that starting and compiling matter little; bytes, and requests. */
    private static final long BYTES_MIN = 1L << 30;

    private static final int TRIALS_MAX = 10_000;

    /** Until the compiler is done with both processes. */
    private static final int WARM_UP_SECONDS = 2;

    private static final String MPI_SOURCE = "mpi_yardstick.c";
    private static final String MPI_MEGABYTES = "MB/s ([0-9.]+)";

    /** 2^20 bytes, of the transfer service, in 10^6. */
    private static final double MEGABYTE = 1.048576;

    /** Payload of simulated packets, bytes: so that the sweep takes seconds. */
    private static final int PACKET = 16 << 10;

    private final String scheme;
    private final boolean isQuick;
    private final List<BenchRow> rows = new ArrayList<>();

    private BenchRows(String scheme, boolean isQuick) {
        this.scheme = scheme;
        this.isQuick = isQuick;
    }

    /**
     * All rows.
     *
     * @param mpi see {@link #compile}
     * @param isQuick a little of each
     */
    static List<BenchRow> of(String scheme, Path mpi, boolean isQuick) {
        BenchRows all = new BenchRows(scheme, isQuick);
        all.addNull();
        all.addBulk("write", "get", "pulled by the server");
        all.addBulk("read", "put", "pushed by the server");
        for (String method : List.of("write", "read")) {
            BenchRow encode =
                    all.xfer(
                            "encode", method + "_encode, 1 MiB", method + "-encode-async", 1, null);
            all.xfer("encode", method + "_rdma, 1 MiB", method + "-rdma-async", 1, encode);
        }
        all.addClients();
        for (boolean isWrite : new boolean[] {true, false}) {
            for (int count = 1; count <= 64; count *= 2) {
                all.addTorus(count, isWrite);
            }
        }
        for (int bytes = SMALLEST; bytes <= (isQuick ? SMALLEST : LARGEST); bytes *= STEP) {
            all.addTransfers(mpi, bytes, true);
            if (!isQuick) {
                all.addTransfers(mpi, bytes, false);
            }
        }
        return all.rows;
    }

    /**
     * Compiles the transfers by MPI alone.
     *
     * @return null: the program is there; otherwise why not
     */
    static String compile(Path mpi) throws IOException, InterruptedException {
        try (InputStream text = BenchRows.class.getResourceAsStream(MPI_SOURCE)) {
            return MpiProgram.compile(text, mpi);
        }
    }

    /** Of the paper's Fig. 10: one client, each method beside the same bytes by MPI. */
    private void addTransfers(Path mpi, int bytes, boolean isWrite) {
        int requests = CALLS_OUTSTANDING;
        int trials = isQuick ? 1 : (int) Math.min(TRIALS_MAX, BYTES_MIN / requests / bytes);
        for (String line : isWrite ? WRITES : READS) {
            if (line.startsWith("MPI_")) {
                String method = line.substring("MPI_".length()).toLowerCase(Locale.ROOT);
                List<String> arguments = List.of(method, "" + bytes, "" + requests, "" + trials);
                List<String> words = MpiProgram.command(mpi, 2, arguments);
                Program program = BenchRow.foreign(words, MPI_MEGABYTES, MEGABYTE);
                add("mpi", line + ", bytes: " + bytes, "MB/s", program, null, bytes);
            }
        }
        for (XferMethod method : XferMethod.values()) {
            if (method.isWrite() == isWrite) {
                int count = bytes / DataArray.ELEMENT_LENGTH;
                List<String> words = xfer(method + "-async", count, requests, trials, 1);
                String name = method.name().toLowerCase(Locale.ROOT) + ", bytes: " + bytes;
                Program program = BenchRow.command(words, LAST_COLUMN, MEGABYTE);
                add("mpi", name, "MB/s", program, null, bytes);
            }
        }
    }

    /** Each client is a process; the server is another one. */
    private void addClients() {
        int most = isQuick ? 2 : CLIENTS_MAX;
        for (String method : List.of("write", "read")) {
            for (int count = 1; count <= most; count *= 2) {
                String name = method + "_rdma, clients: " + count;
                xfer("clients", name, method + "-rdma-async", count, null);
            }
        }
        for (int count = 1; count <= most; count *= 2) {
            int trials = (isQuick ? 8 : 4096) / count;
            double calls = (double) count * CALLS_OUTSTANDING * trials;
            List<String> words = xfer("write-encode-async", 1, CALLS_OUTSTANDING, trials, count);
            Program program = BenchRow.command(words, LAST_BUT_ONE, seconds -> calls / seconds);
            add("clients", "RPC of 16 B, clients: " + count, "/s", program, null, count);
        }
    }

    private BenchRow add(
            String group, String name, String unit, Program program, BenchRow base, int x) {
        BenchRow row = new BenchRow(group, name, unit, program, base, x);
        rows.add(row);
        return row;
    }

    /** In the simulator: one node for each client; the same each time. */
    private void addTorus(int clients, boolean isWrite) {
        String line = "torus, " + (isWrite ? "write" : "read");
        List<Double> samples = new ArrayList<>();
        Program program =
                folder ->
                        samples.isEmpty()
                                ? 1e-6
                                        * NessieScaling.bytesPerSecond(
                                                GridTopology.torus(TieRule.POSITIVE, 4, 4, 5),
                                                new NetworkContext().payload(PACKET),
                                                clients,
                                                isWrite)
                                : samples.get(0);
        String name = line + ", clients: " + clients;
        BenchRow all = new BenchRow("torus", name, "MB/s", program, null, clients, samples);
        rows.add(all);
        name = line + " of each, clients: " + clients;
        add("torus", name, "MB/s", folder -> all.value() / clients, null, 0);
    }

    /** One direction of a send, and a put or get. */
    private List<String> perf(String command, String operation, String... more) {
        List<String> words = new ArrayList<>();
        words.addAll(List.of(command, "--transport=" + scheme, "--op=" + operation, "--json"));
        words.addAll(List.of(more));
        if (isQuick) {
            words.add("--iterations=20");
        }
        return words;
    }

    private List<String> part(String figure) {
        List<String> words = new ArrayList<>();
        words.addAll(List.of("nessie", "bench-part", figure, "--transport=" + scheme));
        if (isQuick) {
            words.add("--quick");
        }
        return words;
    }

    private void addNull() {
        String length = BenchPart.NULL_REQUEST_LENGTH + " B";
        List<String> sending = perf("lat", "send", "--size=" + BenchPart.NULL_REQUEST_LENGTH);
        String name = "send of " + length + ", there and back";
        Program program = BenchRow.command(sending, BATCH_NS, 2);
        BenchRow send = add("null", name, "ns", program, null, 0);
        program = BenchRow.command(part("nothing"), HALF_NS, 2);
        add("null", "null RPC", "ns", program, send, 0);
        addPeer("AeronIpcPeer", "Aeron IPC, " + length + ", two threads", "200000", "");
        addPeer("GrpcPeer", "gRPC, " + length + ", two processes, TCP", "20000", "direct");
    }

    /** A program of another package, where the benchmarks' class path has it. */
    private void addPeer(String type, String name, String count, String setting) {
        String main = "dev.verbena.jmh.peers." + type;
        String file = "/" + main.replace('.', '/') + ".class";
        if (BenchRows.class.getResource(file) != null) {
            List<String> words = new ArrayList<>();
            words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            words.add("-XX:+UseSerialGC");
            words.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
            words.addAll(List.of("-cp", System.getProperty("java.class.path"), main));
            words.addAll(List.of(Integer.toString(BenchPart.NULL_REQUEST_LENGTH), count, setting));
            add("null", name, "ns", BenchRow.foreign(words, MICROSECONDS, 2000), null, 0);
        }
    }

    private void addBulk(String call, String raw, String how) {
        List<String> moving = perf("bw", raw, "--size=4m", "--window=" + BenchPeer.OUTSTANDING);
        String name = raw + " of 4 MiB, 8 outstanding";
        Program program = BenchRow.command(moving, MEGABYTES, 1);
        BenchRow base = add(call, name, "MB/s", program, null, 0);
        name = "RPC, 4 MiB " + how + ", 8 outstanding";
        add(call, name, "MB/s", BenchRow.command(part(call), MEGABYTES, 1), base, 0);
    }

    private BenchRow xfer(String group, String name, String method, int clients, BenchRow base) {
        List<String> words = xfer(method, 65_536, 4, 64 / clients, clients);
        Program program = BenchRow.command(words, LAST_COLUMN, MEGABYTE);
        return add(group, name, "MB/s", program, base, clients);
    }

    private List<String> xfer(String method, int count, int requests, int trials, int clients) {
        return List.of(
                "nessie",
                "xfer",
                "--transport=" + scheme,
                "--io-method=" + method,
                "--len=" + count,
                "--num-reqs=" + requests,
                "--num-trials=" + trials,
                "--processes=" + clients,
                "--warm-up=" + (isQuick ? 0 : WARM_UP_SECONDS),
                "--validate=none",
                "--timeout=30000");
    }
}
