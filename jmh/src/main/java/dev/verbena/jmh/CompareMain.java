package dev.verbena.jmh;

import dev.verbena.cli.nessie.BenchPart;
import dev.verbena.jmh.Comparison.Bound;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Measures every ratio that the project promises and writes docs/benchmarks.md. Arguments: the
 * checkout, the C twin's program, pairs for each comparison, and optionally names of comparisons.
 * Run by {@code ./verbena compare}.
 */
public final class CompareMain {
    private final String bench;
    private final Contestants contestants;
    private final List<Comparison> comparisons = new ArrayList<>();

    CompareMain(String bench) {
        this.bench = bench;
        this.contestants = new Contestants(bench);
        addPut();
        addSend();
        addBandwidth();
        addWaiting();
        comparisons.addAll(SecondProviderComparisons.of(Contestants.lat("shm", "put", 8)));
        comparisons.addAll(MatchComparisons.of(bench));
        comparisons.addAll(UgniComparisons.of(bench));
        comparisons.addAll(OfiComparisons.of(bench));
        addSizes();
        int bulk = 4 << 20;
        comparisons.addAll(
                NessieComparisons.of(
                        Contestants.lat("shm", "send", BenchPart.NULL_REQUEST_LENGTH),
                        Contestants.bw("shm", "get", bulk, Contestants.MEDIAN_MB, 1e-3)
                                .with("--window=8"),
                        Contestants.bw("shm", "put", bulk, Contestants.MEDIAN_MB, 1e-3)
                                .with("--window=8"),
                        List.of(
                                Contestants.aeron(BenchPart.NULL_REQUEST_LENGTH),
                                Contestants.grpc(BenchPart.NULL_REQUEST_LENGTH))));
        atLeast(
                "stream",
                "4 MiB messages of two processes through a DART server over shm:// to a receiver,"
                        + " checksums on, over plain TCP without",
                stream("streaming"),
                stream("tcp"),
                0.8);
        atLeast(
                "stream-c",
                "the same, over the same work in C: a copy out of the other process, a sum, written"
                        + " to TCP, read, summed up",
                stream("streaming"),
                sameWork(),
                0.85);
        comparisons.add(
                new Comparison(
                        "stream-carried",
                        "the same over shm:// from the server to the receiver, too, over TCP there",
                        "GB/s",
                        stream("carried"),
                        stream("streaming"),
                        Bound.NONE,
                        1));
        String pulls = "DART pulls of 4 MiB from two processes over shm://, thrown away, over ";
        Contestant four = pull("pulls", 4);
        atLeast(
                "pull-gets",
                pulls + "the same gets without a protocol",
                four,
                pull("gets", 4),
                0.9);
        atLeast("pull-64m", pulls + "pulls of 64 MiB", four, pull("pulls", 64), 0.9);
        comparisons.addAll(ArrayComparisons.of());
        comparisons.addAll(StagingComparisons.of());
        comparisons.addAll(FlesnetComparisons.of());
        comparisons.add(
                new Comparison(
                        "dart-send-poll",
                        "DART send of 4 KiB over shm:// that need not wait, p50, to a server that"
                                + " sleeps and looks every 100 us (pollNs), over one that must be"
                                + " woken",
                        "us",
                        dartSend("polling"),
                        dartSend("asleep"),
                        Bound.NONE,
                        0));
    }

    /** All comparisons, in the order of the page. */
    static List<Comparison> comparisons(String bench) {
        return List.copyOf(new CompareMain(bench).comparisons);
    }

    private static Contestant dartSend(String server) {
        return experiment(
                "server " + server,
                "e3 --only=send --quick",
                "\"send that need not wait, server " + server + ", p50 us\": ([0-9.]+)",
                1);
    }

    /** Runs on both processors. */
    private Contestant sameWork() {
        return new Contestant(
                "plain C, blocking",
                List.of(Path.of(bench).resolveSibling("stream-bench").toString(), "--get", "--sum"),
                Map.of(),
                Pattern.compile("\"value\":([0-9.]+)"),
                1);
    }

    private static Contestant stream(String part) {
        return experiment(
                switch (part) {
                    case "tcp" -> "plain TCP";
                    case "carried" -> "Verbena DART, all shm://";
                    default -> "Verbena DART";
                },
                "e1 --only=" + part,
                "\"(?:plain TCP|streaming), MB/s\": ([0-9.]+)",
                1e-3);
    }

    private static Contestant pull(String part, int mebibytes) {
        return experiment(
                part + " of " + mebibytes + " MiB",
                "e1 --only=" + part + " --size=" + (mebibytes << 10),
                "\"(?:pulls|gets alone), MB/s\": ([0-9.]+)",
                1e-3);
    }

    /** Runs on both processors. */
    private static Contestant experiment(
            String name, String arguments, String number, double scale) {
        String script =
                ("d=$(mktemp -d); %s -cp '%s' dev.verbena.cli.VerbenaCommand dart "
                                + "experiment %s --transport=shm --json --output=$d; code=$?; rm "
                                + "-rf $d; exit $code")
                        .formatted(Contestants.JAVA, Contestants.CLASS_PATH, arguments);
        return new Contestant(
                name, List.of("bash", "-c", script), Map.of(), Pattern.compile(number), scale);
    }

    private void addPut() {
        Contestant put = Contestants.lat("shm", "put", 8);
        String what = "8 B put from Java, seen by a polling peer, over ";
        atMost(
                "put-limit",
                what + "a copy and a flag in C",
                put,
                contestants.c("put_lat", "limit", 8),
                1.25);
        atMost("put-c", what + "ours from C", put, contestants.c("put_lat", "softnic", 8), 1.10);
        beside("put-ucx", what + "UCX's", "ns", put, Contestants.ucx("ucp_put_lat", 8, 1e3), 1.05);
        beside("put-jucx", what + "jucx's implicit put", "ns", put, Contestants.jucx(), 1.05);
        comparisons.add(
                new Comparison(
                        "put-rate",
                        "8 B puts from Java, one after the other, over ours from C",
                        "M/s",
                        Contestants.bw("shm", "put", 8, Contestants.RATE, 1),
                        contestants.c("put_bw", "softnic", 8),
                        Bound.AT_LEAST,
                        0.9));
    }

    private void addSend() {
        Contestant send = Contestants.lat("shm", "send", 8);
        Contestant line = contestants.c("line", "limit", 8);
        String what = "8 B send over shm:// to its handler, over ";
        atMost("send-line", what + "the hand-over of a cache line", send, line, 3);
        beside(
                "send-ucx",
                what + "UCX's tag send",
                "ns",
                send,
                Contestants.ucx("tag_lat", 8, 1e3),
                1);
        String aeron = what + "Aeron IPC between two threads";
        comparisons.add(
                new Comparison(
                        "send-aeron", aeron, "ns", send, Contestants.aeron(8), Bound.AT_MOST, 1));
        atMost(
                "send-portals",
                "8 B send over portals:// (match list, full event) over the hand-over of a cache line",
                Contestants.lat("portals", "send", 8),
                line,
                3);
    }

    private void addBandwidth() {
        int four = 4 << 20;
        int large = 64 << 20;
        for (String op : List.of("put", "get")) {
            Contestant ours = Contestants.bw("shm", op, four, Contestants.MEDIAN_MB, 1e-3);
            String what = "4 MiB " + op + " from Java over ";
            atLeast(
                    op + "-4m",
                    what + "memcpy",
                    ours,
                    contestants.c(op + "_bw", "limit", four),
                    0.95);
            atLeast(
                    op + "-4m-c",
                    what + "ours from C",
                    ours,
                    contestants.c(op + "_bw", "softnic", four),
                    0.98);
        }
        Contestant ours = Contestants.bw("shm", "put", large, Contestants.MEDIAN_MB, 1e-3);
        String what = "64 MiB put from Java over ";
        Contestant ucx = Contestants.ucx("ucp_put_bw", large, 1.048576e-3);
        beside("put-64m-ucx", what + "UCX's", "GB/s", ours, ucx, 1.25);
        atLeast("put-64m", what + "memcpy", ours, contestants.c("put_bw", "limit", large), 1.0);
        atLeast(
                "foreign-4m",
                "4 MiB put from Java into foreign memory over process_vm_writev",
                Contestants.bw("shm", "put", four, Contestants.MEDIAN_MB, 1e-3).with("--foreign"),
                contestants.c("foreign_bw", "limit", four),
                0.95);
    }

    private void addWaiting() {
        atMost(
                "wake",
                "8 B send to a process that sleeps, and back, halved, over a bare futex",
                Contestants.lat("shm", "send", 8).with("--sleep", "--iterations=20000"),
                contestants.c("wake", "limit", 8),
                1.3);
    }

    /** The sizes between, beside ours from C. */
    private void addSizes() {
        for (int size : List.of(64, 512, 4 << 10, 64 << 10, 1 << 20)) {
            compare(
                    "put-lat-" + size,
                    size + " B put (in C a flag follows it)",
                    "ns",
                    "lat",
                    "put",
                    size,
                    "put_lat");
        }
        for (int size : List.of(8, 4 << 10, 64 << 10)) {
            compare("get-lat-" + size, size + " B get", "ns", "lat", "get", size, "get_lat");
        }
        for (int size : List.of(64, 1 << 10)) {
            compare("send-lat-" + size, size + " B send", "ns", "lat", "send", size, "send_lat");
        }
        for (int size : List.of(4 << 10, 64 << 10, 1 << 20, 64 << 20)) {
            compare("put-bw-" + size, size + " B puts", "GB/s", "bw", "put", size, "put_bw");
        }
        for (int size : List.of(64 << 10, 64 << 20)) {
            compare("get-bw-" + size, size + " B gets", "GB/s", "bw", "get", size, "get_bw");
        }
        for (int size : List.of(8, 1 << 10)) {
            compare("send-rate-" + size, size + " B sends", "M/s", "bw", "send", size, "send_bw");
        }
    }

    private void compare(
            String id, String what, String unit, String command, String op, int size, String twin) {
        Pattern number =
                unit.equals("M/s")
                        ? Contestants.RATE
                        : unit.equals("ns") ? Contestants.BATCH_NS : Contestants.MEDIAN_MB;
        Contestant ours =
                Contestants.cli(command, "shm", op, size, number, unit.equals("GB/s") ? 1e-3 : 1);
        Contestant other = contestants.c(twin, "softnic", size);
        String sentence = what + " from Java over ours from C";
        comparisons.add(new Comparison(id, sentence, unit, ours, other, Bound.NONE, 0));
    }

    private void atMost(
            String id, String sentence, Contestant ours, Contestant other, double limit) {
        comparisons.add(new Comparison(id, sentence, "ns", ours, other, Bound.AT_MOST, limit));
    }

    private void atLeast(
            String id, String sentence, Contestant ours, Contestant other, double limit) {
        comparisons.add(new Comparison(id, sentence, "GB/s", ours, other, Bound.AT_LEAST, limit));
    }

    /** Beside a program over UCX: with the best of its settings, and as it comes. */
    private void beside(
            String id,
            String sentence,
            String unit,
            Contestant ours,
            Contestant other,
            double limit) {
        List<Contestant> candidates = Contestants.ucxSettings(other);
        Contestant asItComes = candidates.get(candidates.size() - 1);
        Bound bound = unit.equals("ns") ? Bound.AT_MOST : Bound.AT_LEAST;
        comparisons.add(new Comparison(id, sentence, unit, ours, candidates, bound, limit));
        comparisons.add(
                new Comparison(
                        id + "-default",
                        sentence + ", as it comes",
                        unit,
                        ours,
                        asItComes,
                        Bound.NONE,
                        0));
    }

    private static int pairs(String text) {
        if (!text.matches("[1-9][0-9]{0,3}")) {
            System.err.println(text + " is no number of pairs; for example: ./verbena compare 10");
            System.exit(2);
        }
        return Integer.parseInt(text);
    }

    /** Runs. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (arguments.length < 3) {
            System.err.println("arguments: CHECKOUT SOFTNIC_BENCH PAIRS [NAME...]");
            System.exit(2);
        }
        List<String> all = Arrays.asList(arguments);
        if (all.contains("--list") || all.contains("--help") || all.contains("-h")) {
            new CompareMain(arguments[1]).list();
            return;
        }
        int pairs = pairs(arguments[2]);
        List<String> wanted = all.subList(3, all.size());
        Path page = Path.of(arguments[0]).resolve("docs/benchmarks.md");
        CompareMain main = new CompareMain(arguments[1]);
        int put = main.run(pairs, wanted, page);
        System.out.println(said(page, pairs, put));
        if (isKept(pairs) && put == 0) {
            System.exit(1);
        }
    }

    /** What became of the page. */
    private static String said(Path page, int pairs, int put) {
        if (!isKept(pairs)) {
            return "%s stays as it is: it needs %s pairs".formatted(page, Comparison.VERDICT_PAIRS);
        }
        return put == 0
                ? page + " stays as it is: no new row for it; the reasons are above"
                : "wrote " + page;
    }

    /** Too few pairs are a trial, which takes no figures away. */
    static boolean isKept(int pairs) {
        return pairs >= Comparison.VERDICT_PAIRS;
    }

    private void list() {
        System.out.println(
                "./verbena compare [PAIRS [NAME...]], PAIRS 10 unless given; ofi stands for all"
                        + " that begin with ofi-; names:");
        for (Comparison comparison : comparisons) {
            System.out.printf("  %-20s %s%n", comparison.id, comparison.sentence);
        }
    }

    /**
     * The page is written after each comparison, so that a run that is ended keeps its rows.
     *
     * @return how many comparisons put a row into the page
     */
    int run(int pairs, List<String> wanted, Path page) throws IOException, InterruptedException {
        for (String name : wanted) {
            if (comparisons.stream().noneMatch(comparison -> comparison.isNamed(name))) {
                System.err.println(
                        "%s is no comparison; there are %s"
                                .formatted(
                                        name, comparisons.stream().map(each -> each.id).toList()));
                System.exit(2);
            }
        }
        Contestant probe = contestants.c("line", "limit", 8).scaled(2);
        List<Comparison> chosen =
                comparisons.stream()
                        .filter(each -> wanted.isEmpty() || wanted.stream().anyMatch(each::isNamed))
                        .toList();
        for (Comparison comparison : chosen) {
            if (comparison.needs(Contestants.UCX) && !Contestants.isOnPath(Contestants.UCX)) {
                System.out.printf(
                        "%s is left out: no %s on the PATH (package ucx-utils)%n",
                        comparison.id, Contestants.UCX);
            }
        }
        int put = 0;
        for (Comparison comparison : chosen) {
            if (!comparison.needs(Contestants.UCX) || Contestants.isOnPath(Contestants.UCX)) {
                comparison.choose();
                take(comparison, probe, pairs);
                comparison.rows().forEach(System.out::println);
                if (isKept(pairs) && put(comparison, page)) {
                    put++;
                }
            }
        }
        return put;
    }

    /** False: the page stays as it is. */
    private boolean put(Comparison comparison, Path page) throws IOException {
        List<String> ids = comparisons.stream().map(each -> each.id).toList();
        ComparePage measured = ComparePage.read(page);
        boolean isPut =
                measured.put(
                        Surroundings.line(),
                        comparison.id,
                        comparison.rows(),
                        comparison.settings());
        if (isPut) {
            Files.writeString(page, measured.text(ids));
        }
        return isPut;
    }

    static void take(Comparison comparison, Contestant probe, int pairs)
            throws InterruptedException {
        for (int tried = 0; comparison.pairs() < pairs && tried < 2 * pairs; tried++) {
            int next = comparison.pairs() + 1;
            System.err.printf("\r%-14s pair %d of %d   ", comparison.id, next, pairs);
            comparison.takePair(probe, tried % 2 == 0);
            if (comparison.pairs() == 0 && tried == 2 && !comparison.failure().isEmpty()) {
                break;
            }
        }
        System.err.println();
        if (!comparison.told().isEmpty()) {
            System.err.println(comparison.told());
        }
    }
}
