package dev.verbena.jmh;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.jmh.peers.AeronIpcPeer;
import dev.verbena.jmh.peers.GrpcPeer;
import dev.verbena.jmh.peers.JucxPutPeer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The programs that are compared on one machine, ours and others', bound to processors 0 and 1. */
final class Contestants {
    static final String JAVA = System.getProperty("java.home") + "/bin/java";
    static final String CLASS_PATH = System.getProperty("java.class.path");
    static final Pattern BATCH_NS = Pattern.compile("\"batchMedianNs\": ([0-9.]+)");
    static final Pattern MEDIAN_MB = Pattern.compile("\"medianMBps\": ([0-9.]+)");
    static final Pattern RATE = Pattern.compile("\"medianMpps\": ([0-9.]+)");

    /** What measures UCX. */
    static final String UCX = "ucx_perftest";

    /**
     * Begins a script that has a server in the background, as {@code $server}: a terminal does not
     * end that one.
     */
    static final String ENDS_SERVER =
            "trap 'kill $server 2>/dev/null' EXIT; trap 'exit 143' TERM INT; ";

    /**
     * Median of a latency, average of a bandwidth. ucx_perftest's last line: iterations,
     * percentile, average, overall time; average, overall MB/s; rates.
     */
    static final Pattern UCX_LATENCY =
            Pattern.compile("(?m)^.*?\\s([0-9.]+)(?:\\s+[0-9.]+){6}\\s*$");

    static final Pattern UCX_BANDWIDTH =
            Pattern.compile("(?m)^.*?\\s([0-9.]+)\\s+[0-9.]+\\s+[0-9.]+\\s*$");

    /** Of 10^9 bytes. */
    static final double MEBIBYTES = 1.048576e-3;

    /** What our programs of one figure print. */
    static final Pattern VALUE = Pattern.compile("\"value\": ?([0-9.]+)");

    static final Pattern HALF_NS = Pattern.compile("\"halfNs\": ?([0-9.E]+)");
    static final Pattern MICROSECONDS = Pattern.compile("\"us\":([0-9.]+)");

    /** Of every Java program, ours and others'. */
    private static final List<String> JAVA_OPTIONS =
            Stream.concat(Stream.of("-XX:+UseSerialGC"), ChildProcess.compilers().stream())
                    .toList();

    /** What Agrona needs of the JVM. */
    private static final String OPENS = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";

    /** What Aeron's ping-pong sample is started with, as far as it concerns memory and the JVM. */
    private static final List<String> AERON_SAMPLE =
            List.of(
                    "-XX:+UnlockDiagnosticVMOptions",
                    "-XX:GuaranteedSafepointInterval=300000",
                    "-Dagrona.disable.bounds.checks=true",
                    "-Daeron.term.buffer.sparse.file=false",
                    "-Daeron.pre.touch.mapped.memory=true",
                    OPENS);

    /** Values of UCX_TLS for processes of one machine, beside the default. */
    private static final List<String> UCX_TRANSPORTS =
            List.of("posix", "sysv", "posix,cma", "sysv,cma");

    private final String bench;

    /** With softnic's C twin at this path. */
    Contestants(String bench) {
        this.bench = bench;
    }

    /**
     * Which of several settings of a program is the best here and now, by the median of a few
     * samples.
     *
     * @param isLess whether less is better
     * @throws IOException of one that failed, if all did
     */
    static int best(List<Contestant> candidates, int samples, boolean isLess)
            throws IOException, InterruptedException {
        int best = -1;
        double bestMedian = Double.NaN;
        IOException failure = null;
        for (int i = 0; i < candidates.size(); i++) {
            try {
                double[] values = new double[samples];
                for (int k = 0; k < samples; k++) {
                    values[k] = candidates.get(i).sample();
                }
                double median = Samples.median(values);
                if (best < 0 || (isLess ? median < bestMedian : median > bestMedian)) {
                    best = i;
                    bestMedian = median;
                }
            } catch (IOException e) {
                failure = e;
            }
        }
        if (best < 0) {
            throw failure;
        }
        return best;
    }

    /** A program over UCX with each of its settings that may be the best; last as it comes. */
    static List<Contestant> ucxSettings(Contestant program) {
        List<Contestant> settings = new ArrayList<>();
        for (String transports : UCX_TRANSPORTS) {
            String name = program.name() + ", UCX_TLS=" + transports;
            settings.add(program.with(Map.of("UCX_TLS", transports)).named(name));
        }
        settings.add(program.named(program.name() + ", default"));
        return settings;
    }

    /** Our measurement of lengths, in commas. */
    static Contestant cli(
            String command,
            String transport,
            String op,
            String lengths,
            Pattern number,
            double scale) {
        String over = "--transport=" + transport;
        String size = "--size=" + lengths;
        return command(command, "--json", over, "--op=" + op, size, "--peer-processor=1")
                .named("Verbena " + transport)
                .giving(number, scale);
    }

    Contestant c(String op, String implementation, long length) {
        return new Contestant(
                implementation.equals("limit") ? "plain C" : "softnic from C",
                List.of(
                        bench,
                        "--op",
                        op,
                        "--size",
                        Long.toString(length),
                        "--samples",
                        "5",
                        "--cpus",
                        "0,1"),
                Map.of(),
                Pattern.compile("\"impl\":\"" + implementation + "\"[^\\n]*\"value\":([0-9.]+)"),
                1);
    }

    static Contestant ucx(String test, long length, double scale) {
        return ucx(test, length, scale, "");
    }

    /** As the other form, and prints p99.9 first, of the latest 2,048 round trips of a run. */
    static Contestant ucxWithTail(String test, long length) {
        String tail = ucxScript(test, length, " -R 99.9");
        return ucx(test, length, 1e3, tail + " | awk 'END {print \"p999Us\\\":\" $(NF - 6)}'; ");
    }

    private static String ucxScript(String test, long length, String options) {
        long iterations = Math.max(50, Math.min(1_000_000, 20_000_000_000L / (length + 20_000)));
        String client =
                String.format(
                        "%s 127.0.0.1 -p $port -c 0 -t %s -s %s -n %s -w %s -f%s",
                        UCX, test, length, iterations, iterations / 10, options);
        return ("{ "
                        + ENDS_SERVER
                        + "port=$((20000 + $$ %% 20000)); ucx_perftest -p $port -c 1 >/dev/null 2>&1 &"
                        + " server=$!; sleep 0.5; %s; kill $server 2>/dev/null; wait; true; }")
                .formatted(client);
    }

    private static Contestant ucx(String test, long length, double scale, String before) {
        String script = before + ucxScript(test, length, "");
        return new Contestant(
                "UCX " + test,
                List.of("bash", "-c", script),
                Map.of("UCX_ERROR_SIGNALS", "", "UCX_WARN_UNUSED_ENV_VARS", "n"),
                test.endsWith("_bw") ? UCX_BANDWIDTH : UCX_LATENCY,
                scale);
    }

    static Contestant jucx() {
        return peer("jucx", "0", List.of(OPENS), JucxPutPeer.class, "8", "400000", "1");
    }

    /** As it comes, and as its own ping-pong sample is started. */
    static List<Contestant> aeron(int length) {
        String[] arguments = {Integer.toString(length), "400000"};
        Class<?> type = AeronIpcPeer.class;
        return List.of(
                peer("Aeron IPC, default", "0,1", List.of(OPENS), type, arguments),
                peer("Aeron IPC, its sample's", "0,1", AERON_SAMPLE, type, arguments));
    }

    /** As it comes, and with handlers on the network's threads. */
    static List<Contestant> grpc(int length) {
        List<Contestant> settings = new ArrayList<>();
        for (String executor : List.of("default", "direct")) {
            String[] arguments = {Integer.toString(length), "20000", executor};
            String name = "gRPC " + executor;
            settings.add(peer(name, "0,1", List.of(OPENS), GrpcPeer.class, arguments));
        }
        return settings;
    }

    private static Contestant peer(
            String name,
            String processors,
            List<String> options,
            Class<?> type,
            String... arguments) {
        List<String> line = java(processors, options, type.getName(), arguments);
        return new Contestant(name, line, Map.of("UCX_ERROR_SIGNALS", ""), MICROSECONDS, 1e3);
    }

    /** A class in a JVM of its own. */
    private static List<String> java(
            String processors, List<String> options, String type, String... arguments) {
        List<String> line = new ArrayList<>(List.of("taskset", "-c", processors, JAVA));
        line.addAll(JAVA_OPTIONS);
        line.addAll(options);
        line.addAll(List.of("-cp", CLASS_PATH, type));
        line.addAll(List.of(arguments));
        return line;
    }

    /** Our command in a JVM of its own on processor 0; its figure is not looked for. */
    static Contestant command(String... words) {
        List<String> line = java("0", List.of(), ChildProcess.MAIN, words);
        return new Contestant("Verbena", line, Map.of(), Pattern.compile("\\G"), 1);
    }

    /** A part of what {@code nessie bench} measures, as half of there and back, ns. */
    static Contestant nessie(String part) {
        return command("nessie", "bench-part", part, "--peer-processor=1").giving(HALF_NS, 1);
    }

    /** A program of the peers that runs on two hosts, or on this one over loopback, for a shell. */
    static String peerCommand(Class<?> type, String arguments) {
        String options = String.join(" ", JAVA_OPTIONS) + " " + OPENS;
        return "%s %s -cp '%s' %s %s"
                .formatted(JAVA, options, CLASS_PATH, type.getName(), arguments);
    }

    /** Of a program's settings those that are nobody's choice. */
    static Contestant asItComes(List<Contestant> settings) {
        return settings.stream()
                .filter(each -> each.name().contains("default"))
                .findFirst()
                .orElse(settings.get(0));
    }
}
