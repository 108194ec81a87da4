package dev.verbena.jmh;

import dev.verbena.jmh.peers.AeronUdpPeer;
import dev.verbena.jmh.peers.JucxPutPeer;
import dev.verbena.jmh.peers.NioPeer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The transport {@code ofi://} over libfabric's provider tcp between two hosts, which are network
 * namespaces ({@code ci/two-hosts}), beside the same calls from C and beside what users would pick
 * instead. Each side has a processor.
 */
final class TwoHostsContestants {
    private static final String OURS =
            "java -XX:+UseSerialGC -cp '%s' dev.verbena.cli.VerbenaCommand %s --size=%s --op=%s ";
    private static final String SERVE = "--transport=ofi --listen";
    private static final String MEASURE = "--connect=$SAID --json ";
    private static final String PEER =
            "java -XX:+UseSerialGC --add-opens=java.base/jdk.internal.misc=ALL-UNNAMED -cp '%s' ";
    private static final String PROVIDER = "'tcp;ofi_rxm'";
    private static final int UCX_PORT = 13_337;
    private static final int SHORT = 8;
    private static final int SHORT_COUNT = 50_000;
    private static final int LARGE_COUNT = 4_000;

    /** Batches of 1,000 round trips, measured and before. */
    private static final int BATCHES = 50;

    private static final Map<String, String> OVER_TCP =
            Map.of("UCX_TLS", "tcp", "UCX_ERROR_SIGNALS", "", "UCX_WARN_UNUSED_ENV_VARS", "n");

    private final String twoHosts;

    /** The script is in the checkout of softnic's program. */
    TwoHostsContestants(Path softnicBench) {
        twoHosts = softnicBench.resolveSibling("../../ci/two-hosts").normalize().toString();
    }

    /** What the words behind the first say: one of ours, of C over libfabric, of UCX, or a peer. */
    Contestant program(String[] words) {
        return switch (words[1]) {
            case "lat" -> ours(words, SHORT_COUNT, Contestants.BATCH_NS);
            case "bw" -> ours(words, LARGE_COUNT, Contestants.MEDIAN_MB);
            case "c" -> twin(words);
            case "ucx" -> ucx(words[2], words[3]);
            case "nio" -> peer("plain NIO", NioPeer.class, SHORT + " " + BATCHES, Map.of());
            case "aeron" -> peer("Aeron UDP", AeronUdpPeer.class, SHORT + " " + BATCHES, Map.of());
            case "jucx" -> {
                String arguments = SHORT + " " + SHORT_COUNT + " host";
                yield peer("jucx, UCX_TLS=tcp", JucxPutPeer.class, arguments, OVER_TCP);
            }
            default -> throw new IllegalArgumentException(words[1]);
        };
    }

    private Contestant ours(String[] words, int count, Pattern number) {
        String program = OURS.formatted(Contestants.CLASS_PATH, words[1], words[3], words[2]);
        String client = program + MEASURE + "--iterations=" + count;
        return pair("Verbena ofi", program + SERVE, client, Map.of(), number, 1e-3);
    }

    private Contestant twin(String[] words) {
        String program = "ofi_twin %s %s %s %s".formatted(words[2], words[3], words[4], PROVIDER);
        double scale = words[2].endsWith("lat") ? 1e-3 : 1;
        return pair("ofi_twin", program, program + " $PEER", Map.of(), Contestants.VALUE, scale);
    }

    private Contestant peer(
            String name, Class<?> type, String arguments, Map<String, String> environment) {
        String program = PEER.formatted(Contestants.CLASS_PATH) + type.getName() + " " + arguments;
        return pair(name, program, program + " $PEER", environment, Contestants.MICROSECONDS, 1);
    }

    /** Its server says nothing before it listens. */
    private Contestant ucx(String test, String length) {
        boolean isRate = test.endsWith("bw");
        int count = isRate ? LARGE_COUNT : SHORT_COUNT;
        String server =
                "ucx_perftest -p %s >/dev/null & until grep -q ':%04X .* 0A ' /proc/net/tcp; do sleep 0.1; done; echo ready; wait"
                        .formatted(UCX_PORT, UCX_PORT);
        String client =
                "ucx_perftest $PEER -p %s -t %s -s %s -n %s -w %s -f"
                        .formatted(UCX_PORT, test, length, count, count / 10);
        return pair(
                "UCX " + test + ", UCX_TLS=tcp",
                server,
                client,
                OVER_TCP,
                isRate ? Contestants.UCX_BANDWIDTH : Contestants.UCX_LATENCY,
                isRate ? Contestants.MEBIBYTES : 1);
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
