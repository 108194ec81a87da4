package dev.verbena.jmh;

import dev.verbena.cli.nessie.BenchPart;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.jmh.peers.NioPeer;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.regex.Pattern;

/**
 * What {@code verbena bench} measures on this machine: every transport that works here, beside C,
 * the machine's limits and what is installed of others. Says what it leaves out.
 */
final class BenchPlan {
    /** How much is measured. */
    enum Effort {
        FULL,

        /** Puts and sends only; others as they come. */
        QUICK,

        /** As quick, without others and with few transfers: whether it works. */
        TRIAL
    }

    /** The groups that are no transport's. */
    static final List<String> OTHERS = List.of("machine", "rpc");

    static final String OURS = "Verbena";
    static final String SOFTNIC = "softnic in C";
    static final String LIMIT = "plain C";

    /** A p99.9 needs a thousand transfers; of longer ones only the bandwidth is measured. */
    private static final int LATENCY_LENGTH_MAX = 1 << 20;

    private static final int MESSAGE_LENGTH_MAX = 64 << 10;
    private static final int SOFTNIC_MESSAGE_MAX = 4 << 10;
    private static final int LARGE = 4 << 20;
    private static final int SHORT = 8;

    private static final Pattern ANY = Pattern.compile("\\G");
    private static final Pattern PUT_NS = Pattern.compile("\"put_ns\": ?([0-9.]+)");

    private final Path bench;
    private final Contestants contestants;
    private final List<Integer> lengths;
    private final Effort effort;
    private final boolean hasUcx;
    private final Map<String, String> leftOut = new LinkedHashMap<>();
    private final List<BenchGroup> groups = new ArrayList<>();

    /**
     * A plan.
     *
     * @param softnicBench the twin's program, beside which the others are
     * @param wanted transports and {@link #OTHERS}; empty for all
     * @param lengths of transfers, ascending
     */
    BenchPlan(Path softnicBench, List<String> wanted, List<Integer> lengths, Effort effort) {
        this.bench = softnicBench.toAbsolutePath().getParent();
        this.contestants = new Contestants(softnicBench.toString());
        this.lengths = List.copyOf(lengths);
        this.effort = effort;
        boolean isInstalled = ThisMachine.isOnPath(Contestants.UCX);
        hasUcx = isInstalled && effort != Effort.TRIAL;
        if (isWanted(wanted, "shm") && !isInstalled) {
            leftOut.put("UCX, jucx", "no " + Contestants.UCX + " on the PATH (package ucx-utils)");
        }
        if (isWanted(wanted, "machine")) {
            addMachine();
        }
        for (TransportProvider provider : Transports.providers()) {
            String scheme = provider.scheme();
            String cause = provider.unavailabilityCause();
            boolean hasMachine = scheme.equals("verbs") && wanted.contains(scheme);
            if (hasMachine) {
                Path checkout = bench.resolve("../..").normalize();
                Path twin = bench.resolve("verbs_twin");
                groups.addAll(BenchMachine.groups(BenchMachine.command(checkout, twin)));
            }
            if (isWanted(wanted, scheme) && cause != null && !hasMachine) {
                leftOut.put(scheme + "://", cause + elsewhere(scheme));
            } else if (isWanted(wanted, scheme) && cause == null) {
                addTransport(scheme);
            }
        }
        if (isWanted(wanted, "rpc")) {
            addCalls();
        }
    }

    private static boolean isWanted(List<String> wanted, String name) {
        return wanted.isEmpty() || wanted.contains(name);
    }

    private static String elsewhere(String scheme) {
        return scheme.equals("verbs")
                ? "; beside perftest, in a virtual machine: --transport=verbs"
                : "";
    }

    /** What will not be measured, with the reason. */
    Map<String, String> leftOut() {
        return leftOut;
    }

    List<BenchGroup> groups() {
        return groups;
    }

    /** The round trip of a cache line, briefly. */
    Contestant probe() {
        return contestants.c("line", "limit", SHORT).with("--samples", "1", "--ms", "10").scaled(2);
    }

    private void add(String id, String title, String figure, List<BenchProgram> programs) {
        groups.add(new BenchGroup(id, title, figure, programs));
    }

    private void addMachine() {
        List<BenchProgram> latency = new ArrayList<>();
        latency.add(softnic("line", List.of(SHORT), Map.of("limit", "cache line, handed over")));
        latency.add(softnic("wake", List.of(SHORT), Map.of("limit", "futex, a sleeper woken")));
        latency.add(latency("TCP over loopback, NIO", SHORT, nio()));
        add(
                "machine-latency",
                "This machine: the least that a hand-over takes, one way",
                BenchProgram.LATENCY,
                latency);
        List<Integer> bulk = from(4 << 10);
        if (!bulk.isEmpty()) {
            List<BenchProgram> bandwidth = new ArrayList<>();
            bandwidth.add(softnic("put_bw", bulk, Map.of("limit", "memcpy")));
            bandwidth.add(softnic("foreign_bw", bulk, Map.of("limit", "process_vm_writev")));
            Contestant tcp =
                    program(
                            "stream-bench",
                            Contestants.VALUE,
                            "stream-bench",
                            "--bytes",
                            effort == Effort.TRIAL ? "10000000" : "1000000000");
            bandwidth.add(bandwidth("TCP over loopback, C", LARGE, tcp));
            add(
                    "machine-bandwidth",
                    "This machine: bytes from one process to another",
                    BenchProgram.BANDWIDTH,
                    bandwidth);
        }
    }

    private void addTransport(String scheme) {
        List<Integer> timed = upTo(LATENCY_LENGTH_MAX);
        List<Integer> sent = upTo(MESSAGE_LENGTH_MAX);
        String over = " over " + scheme + "://";
        boolean hasAll = effort == Effort.FULL && !scheme.equals("auto");
        latencies(scheme, "put", timed, "Put" + over + ", seen by a polling peer, one way");
        if (!scheme.equals("auto")) {
            latencies(scheme, "send", sent, "Send" + over + " to its handler, one way");
            bandwidths(scheme, "put", lengths, "Puts" + over);
        }
        if (hasAll) {
            latencies(scheme, "get", timed, "Get" + over);
            bandwidths(scheme, "get", lengths, "Gets" + over);
            bandwidths(scheme, "send", sent, "Sends" + over);
        }
    }

    private void latencies(String scheme, String op, List<Integer> sizes, String title) {
        if (sizes.isEmpty()) {
            return;
        }
        List<BenchProgram> programs = new ArrayList<>();
        Contestant ours = Contestants.cli("lat", scheme, op, plain(sizes), ANY, 1);
        programs.add(BenchProgram.printing(briefly(ours), BenchProgram.latencies(OURS)));
        programs.addAll(softnic(op, "_lat", sizes));
        if (sizes.contains(SHORT) && effort != Effort.TRIAL) {
            programs.addAll(twins(scheme, op));
        }
        if (scheme.equals("shm") && effort != Effort.TRIAL) {
            programs.addAll(others(op, sizes));
        }
        add(scheme + "-" + op + "-lat", title, BenchProgram.LATENCY, programs);
    }

    private void bandwidths(String scheme, String op, List<Integer> sizes, String title) {
        if (sizes.isEmpty()) {
            return;
        }
        List<BenchProgram> programs = new ArrayList<>();
        Contestant ours = Contestants.cli("bw", scheme, op, plain(sizes), ANY, 1);
        programs.add(BenchProgram.printing(briefly(ours), BenchProgram.bandwidths(OURS)));
        programs.addAll(softnic(op, "_bw", sizes));
        if (scheme.equals("gni") && sizes.contains(LARGE) && !op.equals("send")) {
            programs.add(bandwidth("uGNI in C", LARGE, ugni("bte-" + op)));
        }
        if (scheme.equals("ofi") && sizes.contains(1 << 20) && op.equals("put")) {
            programs.add(bandwidth("libfabric in C", 1 << 20, ofi("put_bw", 1 << 20, 8, 1)));
        }
        if (scheme.equals("shm") && hasUcx && op.equals("put")) {
            List<Integer> some = sizes.stream().filter(size -> size >= 4 << 10).toList();
            programs.addAll(
                    ucx(
                            BenchProgram.BANDWIDTH,
                            some,
                            size -> Contestants.ucx("ucp_put_bw", size, Contestants.MEBIBYTES)));
        }
        add(scheme + "-" + op + "-bw", title, BenchProgram.BANDWIDTH, programs);
    }

    /** The same object of the same network in C, 8 B. */
    private List<BenchProgram> twins(String scheme, String op) {
        if (scheme.equals("portals") && !op.equals("get")) {
            Contestant put =
                    program("portals-bench", PUT_NS, "portals/portals-bench", "--samples", "3");
            return List.of(latency("Portals put in C", SHORT, List.of(put)));
        }
        if (scheme.equals("gni") && !op.equals("get")) {
            String what = op.equals("put") ? "fma-ping" : "smsg-ping";
            Contestant ping = ugni(what).scaled(0.5);
            return List.of(latency("uGNI in C", SHORT, List.of(ping)));
        }
        if (scheme.equals("ofi") && !op.equals("get")) {
            return List.of(latency("libfabric in C", SHORT, List.of(ofi(op + "_lat", 8, 1, 1))));
        }
        return List.of();
    }

    /** What users would pick instead, between two processes of a machine. */
    private List<BenchProgram> others(String op, List<Integer> sizes) {
        List<BenchProgram> programs = new ArrayList<>();
        boolean hasShort = sizes.contains(SHORT);
        if (hasUcx && op.equals("put")) {
            programs.addAll(ucxLatency("ucp_put_lat", sizes));
            if (hasShort) {
                programs.add(
                        latency(
                                "jucx",
                                SHORT,
                                settings(Contestants.ucxSettings(Contestants.jucx()))));
            }
        }
        if (op.equals("send")) {
            programs.addAll(hasUcx ? ucxLatency("tag_lat", sizes) : List.of());
            if (hasShort) {
                programs.add(latency("Aeron IPC", SHORT, settings(Contestants.aeron(SHORT))));
            }
        }
        return programs;
    }

    private void addCalls() {
        List<BenchProgram> programs = new ArrayList<>();
        calls().forEach(
                        (series, settings) ->
                                programs.add(
                                        latency(series, BenchPart.NULL_REQUEST_LENGTH, settings)));
        add(
                "rpc",
                "A call without arguments over shm://, half of there and back",
                BenchProgram.LATENCY,
                programs);
    }

    /** A call without arguments, and what carries as many bytes there and back; ours first. */
    Map<String, List<Contestant>> calls() {
        Contestant call = Contestants.nessie("nothing").named(OURS);
        Map<String, List<Contestant>> calls = new LinkedHashMap<>();
        calls.put(OURS, List.of(call));
        calls.put("gRPC", settings(Contestants.grpc(BenchPart.NULL_REQUEST_LENGTH)));
        calls.put("Aeron IPC", settings(Contestants.aeron(BenchPart.NULL_REQUEST_LENGTH)));
        return calls;
    }

    private List<BenchProgram> ucxLatency(String test, List<Integer> sizes) {
        return ucx(BenchProgram.LATENCY, sizes, size -> Contestants.ucxWithTail(test, size));
    }

    private List<BenchProgram> ucx(
            String figure, List<Integer> sizes, IntFunction<Contestant> program) {
        Map<Integer, List<Contestant>> bySize = new LinkedHashMap<>();
        for (int size : sizes) {
            bySize.put(size, settings(Contestants.ucxSettings(program.apply(size))));
        }
        return bySize.isEmpty() ? List.of() : List.of(BenchProgram.single("UCX", figure, bySize));
    }

    /** All that may be the best, or in a quick run the program as it comes. */
    private List<Contestant> settings(List<Contestant> all) {
        return effort == Effort.FULL ? all : List.of(Contestants.asItComes(all));
    }

    private static BenchProgram latency(String series, int bytes, List<Contestant> settings) {
        return BenchProgram.single(series, BenchProgram.LATENCY, bytes, settings);
    }

    private static BenchProgram bandwidth(String series, int bytes, Contestant program) {
        return BenchProgram.single(series, BenchProgram.BANDWIDTH, bytes, List.of(program));
    }

    private Contestant briefly(Contestant ours) {
        return effort == Effort.TRIAL ? ours.with("--iterations=20") : ours.with("--brief");
    }

    /** The software NIC and its limit, in C, with the lengths that they take. */
    private List<BenchProgram> softnic(String op, String what, List<Integer> sizes) {
        int limit = op.equals("send") ? SOFTNIC_MESSAGE_MAX : Integer.MAX_VALUE;
        List<Integer> fitting = sizes.stream().filter(size -> size <= limit).toList();
        return fitting.isEmpty()
                ? List.of()
                : List.of(softnic(op + what, fitting, Map.of("softnic", SOFTNIC, "limit", LIMIT)));
    }

    private BenchProgram softnic(String op, List<Integer> sizes, Map<String, String> series) {
        Contestant twin =
                program(
                        "softnic-bench " + op,
                        ANY,
                        "softnic-bench",
                        "--op",
                        op,
                        "--size",
                        plain(sizes),
                        "--samples",
                        "1",
                        "--ms",
                        effort == Effort.TRIAL ? "1" : "50",
                        "--cpus",
                        "0,1");
        return BenchProgram.printing(twin, BenchProgram.softnic(series));
    }

    private Contestant ugni(String what) {
        return program(
                "ugni-bench " + what,
                Contestants.VALUE,
                "ugni/ugni-bench",
                "--what",
                what,
                "--seconds",
                "0.3");
    }

    private Contestant ofi(String operation, int length, int window, double scale) {
        String twin =
                "%s %s %s %s 'tcp;ofi_rxm'"
                        .formatted(bench.resolve("ofi/ofi_twin"), operation, length, window);
        return onLoopback("libfabric in C", twin, Contestants.VALUE, scale);
    }

    private List<Contestant> nio() {
        String nio = Contestants.peerCommand(NioPeer.class, SHORT + " 20");
        return List.of(onLoopback("NIO", nio, Contestants.MICROSECONDS, 1e3));
    }

    /** Two processes on the two processors; the first says when it listens. */
    private static Contestant onLoopback(
            String name, String command, Pattern number, double scale) {
        String script =
                "exec 3< <(exec taskset -c 1 %s 2>&1); read -r said <&3; taskset -c 0 %s 127.0.0.1"
                        .formatted(command, command);
        return new Contestant(name, List.of("bash", "-c", script), Map.of(), number, scale);
    }

    private Contestant program(String name, Pattern number, String file, String... arguments) {
        List<String> command = new ArrayList<>(List.of(bench.resolve(file).toString()));
        command.addAll(List.of(arguments));
        return new Contestant(name, command, Map.of(), number, 1);
    }

    private List<Integer> upTo(int limit) {
        return lengths.stream().filter(length -> length <= limit).toList();
    }

    private List<Integer> from(int limit) {
        return lengths.stream().filter(length -> length >= limit).toList();
    }

    private static String plain(List<Integer> sizes) {
        return String.join(",", sizes.stream().map(String::valueOf).toList());
    }
}
