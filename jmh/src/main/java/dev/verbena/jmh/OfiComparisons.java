package dev.verbena.jmh;

import dev.verbena.jmh.Comparison.Bound;
import dev.verbena.jmh.peers.AeronUdpPeer;
import dev.verbena.jmh.peers.JucxPutPeer;
import dev.verbena.jmh.peers.NioPeer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The transport {@code ofi://} over libfabric's provider tcp between two hosts, which are network
 * namespaces ({@code ci/two-hosts}), beside the same calls from C and beside what users would pick
 * instead. Each side has a processor.
 */
final class OfiComparisons {
    private static final String OURS =
            "java -XX:+UseSerialGC -cp '%s' dev.verbena.cli.VerbenaCommand %s --size=%s --op=%s ";
    private static final String SERVE = "--transport=ofi --listen";
    private static final String MEASURE = "--connect=$SAID --json ";
    private static final String PEER =
            "java -XX:+UseSerialGC --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED -cp '%s' ";
    private static final String PROVIDER = "'tcp;ofi_rxm'";
    private static final int UCX_PORT = 13_337;
    private static final int SHORT = 8;
    private static final int LARGE = 1 << 20;
    private static final int SHORT_COUNT = 50_000;
    private static final int LARGE_COUNT = 4_000;

    /** Batches of 1,000 round trips, measured and before. */
    private static final int BATCHES = 50;

    private static final Map<String, String> OVER_TCP =
            Map.of("UCX_TLS", "tcp", "UCX_ERROR_SIGNALS", "", "UCX_WARN_UNUSED_ENV_VARS", "n");

    private static final Pattern VALUE = Pattern.compile("\"value\": ([0-9.]+)");
    private static final double MEBI = 1.048576e-3;

    private final String twoHosts;
    private final String classPath = System.getProperty("java.class.path");
    private final List<Comparison> comparisons = new ArrayList<>();

    private OfiComparisons(String softnicBench) {
        twoHosts =
                Path.of(softnicBench).resolveSibling("../../ci/two-hosts").normalize().toString();
        addC();
        addOthers();
    }

    /** The comparisons; the program in C lies in a folder beside softnic's. */
    static List<Comparison> of(String softnicBench) {
        return new OfiComparisons(softnicBench).comparisons;
    }

    private void addC() {
        String same = " between two hosts over ofi:// (libfabric's tcp), over the same from C";
        besideC("ofi-send-c", "8 B send" + same, ours("send"), "send_lat");
        besideC("ofi-put-c", "8 B put" + same, ours("put"), "put_lat");
        List<Contestant> windows = new ArrayList<>();
        for (int window : new int[] {8, 32}) {
            windows.add(twin("put_bw", LARGE, window, 1));
            windows.add(twin("spin_put_bw", LARGE, window, 1));
        }
        String puts = "1 MiB puts" + same;
        Bound bound = Bound.AT_LEAST;
        comparisons.add(new Comparison("ofi-bw-c", puts, "GB/s", ourPuts(), windows, bound, 0.97));
    }

    private void addOthers() {
        String send = "8 B send between two hosts over ofi:// (libfabric's tcp), beside ";
        String put = "8 B put between two hosts over ofi:// (libfabric's tcp), beside ";
        latency("ofi-send-nio", send + "plain NIO over TCP", ours("send"), nio(), Bound.NONE);
        latency("ofi-send-aeron", send + "Aeron over UDP", ours("send"), aeron(), Bound.NONE);
        latency("ofi-send-ucx", send + "UCX's", ours("send"), ucx("tag_lat"), Bound.NONE);
        latency("ofi-put-ucx", put + "UCX's", ours("put"), ucx("ucp_put_lat"), Bound.NONE);
        latency("ofi-put-jucx", put + "jucx's implicit put", ours("put"), jucx(), Bound.NONE);
        comparisons.add(
                new Comparison(
                        "ofi-bw-ucx",
                        "1 MiB puts between two hosts over ofi:// (libfabric's tcp), beside UCX's",
                        "GB/s",
                        ourPuts(),
                        ucx("ucp_put_bw", LARGE, LARGE_COUNT, Contestants.UCX_BANDWIDTH, MEBI),
                        Bound.NONE,
                        0));
    }

    private void latency(String id, String what, Contestant ours, Contestant other, Bound bound) {
        comparisons.add(new Comparison(id, what, "us", ours, other, bound, 1.10));
    }

    /** With the better of its two kinds of queues. */
    private void besideC(String id, String what, Contestant ours, String operation) {
        List<Contestant> twins = List.of(twin(operation), twin("spin_" + operation));
        comparisons.add(new Comparison(id, what, "us", ours, twins, Bound.AT_MOST, 1.10));
    }

    private Contestant ours(String op) {
        String program = OURS.formatted(classPath, "lat", SHORT, op);
        String client = program + MEASURE + "--iterations=" + SHORT_COUNT;
        return pair("Verbena ofi", program + SERVE, client, Map.of(), Contestants.BATCH_NS, 1e-3);
    }

    private Contestant ourPuts() {
        String program = OURS.formatted(classPath, "bw", LARGE, "put");
        String client = program + MEASURE + "--iterations=" + LARGE_COUNT;
        return pair("Verbena ofi", program + SERVE, client, Map.of(), Contestants.MEDIAN_MB, 1e-3);
    }

    private Contestant twin(String operation) {
        return twin(operation, SHORT, 1, 1e-3);
    }

    private Contestant twin(String operation, int length, int window, double scale) {
        String program = "ofi_twin %s %s %s %s".formatted(operation, length, window, PROVIDER);
        String name =
                "C over libfabric"
                        + (operation.startsWith("spin_") ? ", queue without descriptor" : "")
                        + (window > 1 ? ", " + window + " under way" : "");
        return pair(name, program, program + " $PEER", Map.of(), VALUE, scale);
    }

    private Contestant nio() {
        return peer("plain NIO", NioPeer.class, SHORT + " " + BATCHES, Map.of());
    }

    private Contestant aeron() {
        return peer("Aeron UDP", AeronUdpPeer.class, SHORT + " " + BATCHES, Map.of());
    }

    private Contestant jucx() {
        String arguments = SHORT + " " + SHORT_COUNT + " host";
        return peer("jucx, UCX_TLS=tcp", JucxPutPeer.class, arguments, OVER_TCP);
    }

    private Contestant peer(
            String name, Class<?> type, String arguments, Map<String, String> environment) {
        String program = PEER.formatted(classPath) + type.getName() + " " + arguments;
        return pair(name, program, program + " $PEER", environment, Contestants.MICROSECONDS, 1);
    }

    private Contestant ucx(String test) {
        return ucx(test, SHORT, SHORT_COUNT, Contestants.UCX_LATENCY, 1);
    }

    /** Its server says nothing before it listens. */
    private Contestant ucx(String test, int length, int count, Pattern number, double scale) {
        String server =
                "ucx_perftest -p %s >/dev/null & until grep -q ':%04X .* 0A ' /proc/net/tcp; do sleep 0.1; done; echo ready; wait"
                        .formatted(UCX_PORT, UCX_PORT);
        String client =
                "ucx_perftest $PEER -p %s -t %s -s %s -n %s -w %s -f"
                        .formatted(UCX_PORT, test, length, count, count / 10);
        return pair("UCX " + test + ", UCX_TLS=tcp", server, client, OVER_TCP, number, scale);
    }

    private Contestant pair(
            String name,
            String server,
            String client,
            Map<String, String> environment,
            Pattern number,
            double scale) {
        List<String> command = List.of(twoHosts, server, client);
        return new Contestant(name, command, environment, number, scale);
    }
}
