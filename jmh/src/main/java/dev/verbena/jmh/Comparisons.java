package dev.verbena.jmh;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.cli.nessie.BenchPart;
import dev.verbena.cli.report.Html;
import dev.verbena.jmh.Comparison.Bound;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The comparisons of {@code ./verbena compare}, read from a table, {@code comparisons.txt}. The
 * first word of a program there says how the others are understood.
 */
final class Comparisons {
    private static final Pattern MEGABYTES = Pattern.compile("\"medianMBps\": ?([0-9.E]+)");
    private static final Pattern DART_MEGABYTES =
            Pattern.compile("\"(?:plain TCP|streaming|pulls|gets alone), MB/s\": ([0-9.]+)");

    private static final List<String> JVM = List.of(Contestants.JAVA, "-XX:+UseSerialGC");
    private static final List<String> LARGE_JVM =
            List.of(Contestants.JAVA, "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=4g");
    private static final List<String> BOUND_JVM =
            List.of("taskset", "-c", "0", Contestants.JAVA, "-XX:+UseSerialGC");

    private final Path bench;
    private final Contestants contestants;
    private final TwoHostsContestants twoHosts;

    private Comparisons(String softnicBench) {
        bench = Path.of(softnicBench);
        contestants = new Contestants(softnicBench);
        twoHosts = new TwoHostsContestants(bench);
    }

    /** All; programs in C are in the folder of softnic's, or below it. */
    static List<Comparison> of(String softnicBench) {
        Comparisons all = new Comparisons(softnicBench);
        return Arrays.stream(Html.resource(Comparisons.class, "comparisons.txt").split("\n\n"))
                .filter(row -> !row.startsWith("#"))
                .map(all::comparison)
                .toList();
    }

    private Comparison comparison(String row) {
        List<String> lines = row.lines().toList();
        String[] head = lines.get(0).split(" \\| ");
        String unit = head[1];
        List<Contestant> others = new ArrayList<>();
        for (String line : lines.subList(3, lines.size())) {
            others.addAll(programs(line, unit));
        }
        Bound bound = Bound.of(head[2]);
        return new Comparison(
                head[0],
                lines.get(1),
                unit,
                programs(lines.get(2), unit).get(0),
                others,
                bound,
                bound.limit(head[2]));
    }

    /** A program, with each of its settings. */
    private List<Contestant> programs(String line, String unit) {
        String[] named = line.split(": ", 2);
        if (named.length == 2) {
            return programs(named[1], unit).stream().map(each -> each.named(named[0])).toList();
        }
        String[] words = line.split(" ");
        return switch (words[0]) {
            case "aeron" -> Contestants.aeron(length(words[1]));
            case "grpc" -> Contestants.grpc(length(words[1]));
            case "jucx" -> Contestants.ucxSettings(Contestants.jucx());
            case "ucx" -> {
                double scale = unit.equals("ns") ? 1e3 : Contestants.MEBIBYTES;
                yield Contestants.ucxSettings(Contestants.ucx(words[1], length(words[2]), scale));
            }
            case "default" -> List.of(Contestants.asItComes(programs(behind(line), unit)));
            default -> List.of(program(words, behind(line), unit));
        };
    }

    private static String behind(String line) {
        return line.substring(line.indexOf(' ') + 1);
    }

    private static int length(String word) {
        return word.equals("NULL_REQUEST_LENGTH")
                ? BenchPart.NULL_REQUEST_LENGTH
                : Integer.parseInt(word);
    }

    private Contestant program(String[] words, String arguments, String unit) {
        String first = words[1];
        return switch (words[0]) {
            case "lat", "bw" -> ours(words, unit);
            case "beside" -> beside(first, programs(behind(arguments), unit).get(0));
            case "limit", "softnic" -> contestants.c(first, words[0], length(words[2]));
            case "stream-bench" -> inC("stream-bench", arguments);
            case "ugni" ->
                    inC("ugni/ugni-bench", "--what " + first + " --seconds 0.5")
                            .named("ugni-bench " + first);
            case "match" ->
                    inC("portals/portals-match-bench", "--kind " + first + " --depth " + words[2])
                            .named(first + ", depth " + words[2]);
            case "two-hosts" -> twoHosts.program(words);
            case "nessie" -> nessie(first, unit);
            case "dart" -> dart(arguments, DART_MEGABYTES, 1e-3);
            case "dart-send" -> {
                String figure = "send that need not wait, server " + first + ", p50 us";
                yield dart("e3 --only=send --quick", figure(figure), 1);
            }
            case "array" -> {
                String line = ArrayRedistribution.class.getSimpleName() + " 3";
                yield figures(JVM, line, figure(arguments + ", MB/s"), 1e-3).named(arguments);
            }
            case "java" -> figures(LARGE_JVM, arguments, Contestants.VALUE, 1e-3);
            case "bound" ->
                    figures(BOUND_JVM, arguments, Contestants.VALUE, unit.equals("us") ? 1 : 1e-3);
            default -> throw new IllegalArgumentException(String.join(" ", words));
        };
    }

    private static Pattern figure(String name) {
        return Pattern.compile("\"" + name + "\": ([0-9.]+)");
    }

    /** Figures of this transport's operation, with more options behind the length. */
    private static Contestant ours(String[] words, String unit) {
        Pattern number =
                switch (unit) {
                    case "ns" -> Contestants.BATCH_NS;
                    case "M/s" -> Contestants.RATE;
                    default -> Contestants.MEDIAN_MB;
                };
        double scale = unit.equals("GB/s") ? 1e-3 : 1;
        String length = Integer.toString(length(words[3]));
        return Contestants.cli(words[0], words[1], words[2], length, number, scale)
                .with(Arrays.copyOfRange(words, 4, words.length));
    }

    /** In a JVM in which another provider was warmed up. */
    private static Contestant beside(String scheme, Contestant alone) {
        List<String> line = new ArrayList<>(alone.command());
        int at = line.indexOf(VerbenaCommand.class.getName());
        line.set(at, SecondProviderMain.class.getName());
        line.add(at + 1, scheme);
        return new Contestant(
                alone.name() + " beside " + scheme,
                line,
                alone.environment(),
                alone.number(),
                alone.scale());
    }

    private Contestant inC(String program, String arguments) {
        List<String> command = new ArrayList<>(List.of(bench.resolveSibling(program).toString()));
        command.addAll(List.of(arguments.split(" ")));
        return new Contestant(program, command, Map.of(), Contestants.VALUE, 1);
    }

    private static Contestant nessie(String part, String unit) {
        Contestant program = Contestants.nessie(part).named("Verbena Nessie");
        return unit.equals("ns") ? program : program.giving(MEGABYTES, 1e-3);
    }

    private static Contestant dart(String arguments, Pattern number, double scale) {
        String script =
                ("d=$(mktemp -d); %s -cp '%s' dev.verbena.cli.VerbenaCommand dart "
                                + "experiment %s --transport=shm --json --output=$d; code=$?; rm "
                                + "-rf $d; exit $code")
                        .formatted(Contestants.JAVA, Contestants.CLASS_PATH, arguments);
        return new Contestant("dart", List.of("bash", "-c", script), Map.of(), number, scale);
    }

    /** A class of this package that prints figures, and its arguments, in a JVM of its own. */
    private static Contestant figures(List<String> jvm, String line, Pattern number, double scale) {
        List<String> command = new ArrayList<>(jvm);
        command.addAll(List.of("-cp", Contestants.CLASS_PATH));
        command.addAll(List.of((Comparisons.class.getPackageName() + "." + line).split(" ")));
        return new Contestant(line, command, Map.of(), number, scale);
    }
}
