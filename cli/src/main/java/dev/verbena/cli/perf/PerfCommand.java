package dev.verbena.cli.perf;

import dev.verbena.agent.CpuSet;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.Text;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.cli.transfer.PerfEndpoint;
import dev.verbena.cli.transfer.PerfPeer;
import dev.verbena.transport.Operation;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code lat} and {@code bw} have in common. */
@Command(sortOptions = false)
abstract class PerfCommand extends CliCommand {
    private static final int LENGTH_MAX = 1 << 30;
    private static final int BRIEF_PART = 10;

    /** Fewer say nothing, of the longest transfers either. */
    private static final long BRIEF_MIN = 20;

    private static final long START_SECONDS = 30;

    private static final long START_SECONDS_MAX = 600;

    /** The other process has as much to start as this one, beside this one and other work. */
    private static final long START_FACTOR = 10;

    @Mixin TransportOption transport;

    /** What can be measured. */
    enum What {
        put(Operation.PUT),
        get(Operation.GET),
        send(Operation.SEND);

        final int operation;

        What(int operation) {
            this.operation = operation;
        }
    }

    @Option(
            names = "--op",
            paramLabel = "OP",
            description = "What to measure: ${COMPLETION-CANDIDATES}. Default: put.")
    What what = What.put;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "BYTES",
            description =
                    "Length of a transfer, for example 8, 64k, 4m, or several: 8,4k. Default: 8 (lat),"
                            + " 64k (bw).")
    String size;

    @Option(
            names = {"-a", "--all"},
            description = "All powers of two from 8 B to 64 MiB (send: to 64 KiB).")
    boolean isAll;

    @Option(
            names = {"-n", "--iterations"},
            paramLabel = "N",
            description = "Transfers of each size. Default: by size, about a second.")
    Long iterations;

    @Option(
            names = "--brief",
            hidden = true,
            description = "A tenth of the default's time; for comparisons that take turns often.")
    boolean isBrief;

    @Option(names = "--json", description = "Print JSON instead of a table.")
    boolean isJson;

    @Option(
            names = "--listen",
            description = "Be the passive side: print the address, serve one measurement.")
    boolean isListening;

    @Option(
            names = "--connect",
            paramLabel = "URI",
            description = "Measure against a process started with --listen. Default: start one.")
    URI peer;

    @Option(
            names = "--peer-processor",
            paramLabel = "N",
            description =
                    "Bind the process that is started to this processor (by taskset). Default: not.")
    int peerProcessor = -1;

    @Option(
            names = "--start-timeout",
            paramLabel = "SECONDS",
            description =
                    "How long the process that is started may take until it listens. Default: 30 s,"
                            + " or ten times as long as this one took if that is more.")
    Long startSeconds;

    @Option(
            names = "--foreign",
            description =
                    "Transfer to and from memory that the toolkit did not allocate. Default: memory"
                            + " that it did.")
    boolean isForeign;

    @Option(
            names = "--sleep",
            description =
                    "op send: sleep until the other process's message comes. Default: poll all the"
                            + " time.")
    boolean isSleeping;

    abstract int defaultLength();

    /** Measures one size; a row of the table, and the fields of the JSON object. */
    abstract Result measure(PerfEndpoint endpoint, int length, long count);

    /** Titles of the table's columns, but of the last. */
    abstract List<Object> header();

    /** Widths of all columns of the table. */
    abstract int[] widths();

    abstract long defaultIterations(int length);

    /** One size measured. */
    record Result(List<Object> cells, Map<String, Object> fields) {}

    @Override
    public Integer call() throws Exception {
        List<Integer> lengths = lengths();
        inRange("--iterations", iterations, 1, 1_000_000_000);
        int longest = lengths.get(lengths.size() - 1);
        if (isListening && peer != null) {
            throw wrong("--listen and --connect exclude each other");
        }
        if (peer != null && peer.getScheme() == null) {
            throw wrong("--connect " + peer + " is no address such as shm://job/process");
        }
        check();
        inRange("--start-timeout", startSeconds, 1, 86_400);
        String scheme =
                peer == null
                        ? transport.require(spec)
                        : TransportOption.require(spec, "--connect " + peer, peer.getScheme());
        PrintWriter out = out();
        if (isListening) {
            PerfPeer.serve(
                    scheme,
                    longest,
                    manner(PerfEndpoint.MESSAGE_LENGTH_MAX),
                    uri -> {
                        out.println(uri);
                        out.flush();
                    });
            return 0;
        }
        if (peer != null) {
            measureAll(scheme, peer, lengths, out);
            return 0;
        }
        long ownMs = ageMs();
        ChildProcess[] child = new ChildProcess[1];
        Thread hook = new Thread(() -> child[0].end(PerfEndpoint.CLOSE_MS), "end-peer");
        BlockingQueue<String> answers = new ArrayBlockingQueue<>(4);
        child[0] =
                ChildProcess.start(
                        "the measurement's other process",
                        null,
                        Map.of(),
                        peerPrefix(),
                        List.of("-Xmx256m"),
                        PerfPeer.arguments(scheme, longest, manner(messageLengthMax(longest))),
                        answers::add);
        Runtime.getRuntime().addShutdownHook(hook);
        try {
            measureAll(
                    scheme,
                    awaitUri(
                            child[0],
                            answers,
                            startSeconds(startSeconds == null ? 0 : startSeconds, ownMs)),
                    lengths,
                    out);
            return 0;
        } finally {
            child[0].end(2000);
            Termination.forget(hook);
        }
    }

    /** Both sides together stay below the 64 MiB of shared memory that a container has. */
    private PerfEndpoint.Settings manner(int messageLengthMax) {
        return new PerfEndpoint.Settings(
                isForeign, isSleeping, messageLengthMax, PerfEndpoint.Settings.CREDITS);
    }

    private int messageLengthMax(int longest) {
        return what == What.send
                ? Math.max(PerfEndpoint.Settings.SHORT, longest)
                : PerfEndpoint.Settings.SHORT;
    }

    private List<String> peerPrefix() {
        if (peerProcessor == -1) {
            return List.of();
        }
        inRange("--peer-processor", peerProcessor, 0, 4095);
        CpuSet online = online();
        if (online != null && !online.contains(peerProcessor)) {
            throw wrong("--peer-processor %d: this machine has %s", peerProcessor, online);
        }
        return List.of("taskset", "-c", Integer.toString(peerProcessor));
    }

    /** The processors of this machine; null where the system does not say. */
    private static CpuSet online() {
        try {
            return CpuSet.parse(
                    Files.readString(Path.of("/sys/devices/system/cpu/online")).strip());
        } catch (IOException e) {
            return null;
        }
    }

    /** How long this process has been there: when it calls this, what its start took. */
    private static long ageMs() {
        return ProcessHandle.current()
                .info()
                .startInstant()
                .map(start -> Duration.between(start, Instant.now()).toMillis())
                .orElse(0L);
    }

    /**
     * How long the other process may take to start.
     *
     * @param chosen by the option; 0 for none
     * @param ownMs what this process took
     */
    static long startSeconds(long chosen, long ownMs) {
        return chosen > 0
                ? chosen
                : Math.min(START_SECONDS_MAX, Math.max(START_SECONDS, START_FACTOR * ownMs / 1000));
    }

    private static URI awaitUri(ChildProcess child, BlockingQueue<String> answers, long seconds)
            throws InterruptedException {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (System.nanoTime() - deadlineNs < 0) {
            String answer = answers.poll(100, TimeUnit.MILLISECONDS);
            if (answer != null && answer.startsWith("uri ")) {
                return URI.create(answer.substring(4));
            }
            if (child.waitFor(0)) {
                break;
            }
        }
        String remedy = " within " + seconds + " s; --start-timeout gives it longer";
        throw new Messages.Failure(child.exitSummary() + (child.waitFor(0) ? "" : remedy));
    }

    /** Throws for options of its own that it does not take, before anything is begun. */
    void check() {}

    private List<Integer> lengths() {
        int limit = what == What.send ? PerfEndpoint.MESSAGE_LENGTH_MAX : LENGTH_MAX;
        if (!isAll) {
            return size == null ? List.of(defaultLength()) : chosen(limit);
        }
        if (size != null) {
            throw wrong("--all and --size exclude each other");
        }
        List<Integer> all = new ArrayList<>();
        for (int length = 8; length <= Math.min(limit, 64 << 20); length *= 2) {
            all.add(length);
        }
        return all;
    }

    /** Ascending, each once. */
    private List<Integer> chosen(int limit) {
        TreeSet<Integer> lengths = new TreeSet<>();
        for (String text : size.split(",", -1)) {
            long length = bytes(text);
            if (length < 1 || length > limit) {
                throw wrong("--size " + text + " is outside 1 to " + limit + " bytes");
            }
            lengths.add((int) length);
        }
        return List.copyOf(lengths);
    }

    /** Iterations of the default, fewer if it shall be brief. */
    private long iterations(int length) {
        long count = defaultIterations(length);
        return isBrief ? Math.max(BRIEF_MIN, count / BRIEF_PART) : count;
    }

    /** A duration of the default, less if it shall be brief. */
    final long brief(long durationNs) {
        return isBrief ? durationNs / BRIEF_PART : durationNs;
    }

    private long bytes(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int unit = lower.isEmpty() ? -1 : "kmg".indexOf(lower.charAt(lower.length() - 1));
        String digits = unit < 0 ? lower : lower.substring(0, lower.length() - 1);
        if (!digits.matches("[0-9]{1,10}")) {
            throw wrong("--size " + text + ": allowed are bytes, or a number with k, m or g");
        }
        return Long.parseLong(digits) << 10 * (unit + 1);
    }

    private void measureAll(String scheme, URI target, List<Integer> lengths, PrintWriter out) {
        int longest = lengths.get(lengths.size() - 1);
        List<String> objects = new ArrayList<>();
        int width = isJson ? Columns.UNKNOWN : Columns.width();
        try (PerfEndpoint endpoint =
                new PerfEndpoint(scheme, longest, manner(messageLengthMax(longest)))) {
            connect(endpoint, target);
            if (!isJson) {
                String how = "# " + spec.name() + " " + what + " over " + endpoint.explain();
                out.print(Columns.fold(how, width));
                printRow(out, width, header(), "cache line [ns]");
            }
            for (int length : lengths) {
                long count = iterations == null ? iterations(length) : iterations;
                CacheLineProbe.Reading probe = CacheLineProbe.read();
                Result result = measure(endpoint, length, count);
                if (isJson) {
                    objects.add(json(length, count, probe, result));
                } else {
                    String distance = String.format("%4s %s", probe.text(), probe.tag());
                    printRow(out, width, result.cells(), distance);
                    out.flush();
                }
            }
        }
        if (isJson) {
            out.printf(
                    "{\"command\": \"%s\", \"operation\": \"%s\", \"transport\": \"%s\","
                            + " \"java\": \"%s\", \"processors\": %s, \"results\": [%n  %s%n]}%n",
                    spec.name(),
                    what,
                    scheme,
                    System.getProperty("java.version"),
                    Runtime.getRuntime().availableProcessors(),
                    String.join(",\n  ", objects));
        }
        out.flush();
    }

    private void connect(PerfEndpoint endpoint, URI target) {
        try {
            endpoint.connect(target);
        } catch (IllegalArgumentException e) {
            throw wrong("--connect " + e.getMessage() + ", which --listen prints");
        }
    }

    /** A row in as many lines as the width asks for. */
    void printRow(PrintWriter out, int width, List<Object> cells, String last) {
        List<Object> all = new ArrayList<>(cells);
        all.add("  " + last);
        for (String line : Columns.row(widths(), width, all.toArray())) {
            out.println(line.stripTrailing());
        }
    }

    private static String json(
            int length, long count, CacheLineProbe.Reading probe, Result result) {
        StringBuilder text = new StringBuilder();
        text.append("{\"bytes\": ").append(length).append(", \"iterations\": ").append(count);
        result.fields().forEach((name, value) -> text.append(", \"" + name + "\": ").append(value));
        text.append(
                Text.format(
                        ", \"cacheLineRoundTripNs\": %s, \"placement\": \"%s\"}",
                        Double.isNaN(probe.roundTripNs())
                                ? "null"
                                : Text.format("%.1f", probe.roundTripNs()),
                        probe.tag()));
        return text.toString();
    }
}
