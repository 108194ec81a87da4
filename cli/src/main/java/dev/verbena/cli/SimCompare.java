package dev.verbena.cli;

import dev.verbena.examples.transit.Chart;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.scenario.Calibration;
import dev.verbena.nsim.scenario.Measure;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.transport.Transports;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena sim compare}: the same programs as real processes, and predicted. */
@Command(
        name = "compare",
        description = {
            "Run scenarios as real processes over a transport and in the simulator, and show both.",
            "",
            "As the NSIM-ACE paper does it: the node latency is half of a barrier of two processes,"
                    + " the shortest of many, the rate of copying is that of a ring of two. With"
                    + " these two numbers the simulator predicts the others. It knows nothing of"
                    + " processes that wait for a processor: where there are more processes than"
                    + " processors, barriers take longer than predicted."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimCompare implements Callable<Integer> {
    private static final int PROCESSES_MAX = 64;
    private static final int REPEAT_MAX = 100_000;
    private static final double PERCENT = 100;
    private static final List<String> USUAL =
            List.of(
                    "ring-barrier",
                    "recursive-doubling",
                    "random-ring",
                    "random-ring-get",
                    "particle-exchange");

    @Spec private CommandSpec spec;

    @Parameters(
            paramLabel = "SCENARIO|FILE",
            arity = "0..*",
            description = "What to run. Default: the barriers, the rings and the exchange.")
    private List<String> names = USUAL;

    @Option(
            names = {"-n", "--processes"},
            paramLabel = "N[,N...]",
            split = ",",
            description = "Numbers of processes, 2 to " + PROCESSES_MAX + ". Default: 2,4,8.")
    private List<Integer> processes = List.of(2, 4, 8);

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            defaultValue = "shm",
            description = "Transport of the real processes. Default: shm.")
    private String scheme;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            defaultValue = "100",
            description = "Runs of each; of long messages a fifth. Default: 100.")
    private int repeat;

    @Option(
            names = "--warm-up",
            paramLabel = "N",
            defaultValue = "1000",
            description = "Runs before them that are not counted; of long messages 3.")
    private int warmUp;

    @Option(names = "--bytes", paramLabel = "B", description = "Bytes of each message.")
    private Long bytes;

    @Option(names = "--seed", paramLabel = "S", description = "For what is random. Default: 1.")
    private long seed = 1;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description = "Folder for report.html, results.json and points.csv; absent or empty.")
    private Path output;

    @Option(names = "--json", description = "Print JSON instead of a table.")
    private boolean isJson;

    private record Point(
            String scenario, Measure measure, int size, double real, double predicted) {
        double errorPercent() {
            return PERCENT * (predicted - real) / real;
        }
    }

    @Override
    public Integer call() throws Exception {
        check();
        List<Scenario> scenarios = new ArrayList<>();
        for (String name : names) {
            scenarios.add(checked(() -> SimCommand.scenario(name)));
        }
        Map<Integer, List<Integer>> able = able(scenarios);
        PrintWriter out = spec.commandLine().getOut();
        Calibration calibration = calibrate();
        List<Point> points = new ArrayList<>();
        ProgressLine line = new ProgressLine(spec.commandLine().getErr());
        int done = 0;
        for (Map.Entry<Integer, List<Integer>> run : able.entrySet()) {
            line.percent(done++, able.size(), run.getKey() + " processes");
            measure(scenarios, run.getKey(), run.getValue(), calibration, points);
        }
        line.end();
        print(out, calibration, points);
        if (output != null) {
            report(calibration, points).write(output, environment());
            out.println("report: " + output.resolve("report.html"));
        }
        out.flush();
        return 0;
    }

    private void check() throws Exception {
        for (int size : processes) {
            inRange("--processes", size, 2, PROCESSES_MAX);
        }
        inRange("--repeat", repeat, 1, REPEAT_MAX);
        inRange("--warm-up", warmUp, 0, REPEAT_MAX);
        if (bytes != null && bytes < 0) {
            throw wrong("--bytes " + bytes + " is negative");
        }
        if (Transports.providers().stream().noneMatch(p -> p.scheme().equals(scheme))) {
            throw wrong("--transport " + scheme + ": there is no such transport");
        }
        String cause = Transports.provider(scheme).unavailabilityCause();
        if (cause != null) {
            throw new Messages.Failure(
                    "--transport " + scheme + " cannot work on this machine: " + cause);
        }
        if (output != null) {
            Files.createDirectories(output);
            try (var files = Files.list(output)) {
                if (files.findAny().isPresent()) {
                    throw new Messages.Failure(
                            "--output " + output + " is not empty; choose a folder that is");
                }
            }
        }
    }

    private void inRange(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw wrong(option + " " + value + " is outside " + min + " to " + max);
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    private <T> T checked(Callable<T> call) throws Exception {
        try {
            return call.call();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private List<String> arguments(String scenarios, long ownBytes) {
        List<String> all = new ArrayList<>();
        all.add("--transport=" + scheme);
        all.add("--repeat=" + repeat);
        all.add("--warm-up=" + warmUp);
        all.add("--seed=" + seed);
        all.add("--bytes=" + ownBytes);
        all.add("--scenarios=" + scenarios);
        return all;
    }

    /** With the programs' own lengths: they are what is calibrated, not what is asked for. */
    private Calibration calibrate() throws Exception {
        String both = Calibration.BARRIER + "," + Calibration.RING;
        Map<Integer, long[][]> times = SimPeers.run(2, arguments(both, -1));
        long[] first = times.get(0)[0];
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < first.length; i += 2) {
            shortest = Math.min(shortest, first[i + 1] - first[i]);
        }
        Script ring = SimPeer.script(SimCommand.scenario(Calibration.RING), 2, seed, -1);
        double ringNs = figure(Measure.BANDWIDTH, times.get(1));
        return Calibration.of(
                1000 * shortest, Math.round(1000 * ringNs), ring.putBytes() / ring.size(), 0);
    }

    /** From the first beginning to the last end: of barriers the shortest, of others the median. */
    private static double figure(Measure measure, long[][] times) {
        long[] spans = new long[times[0].length / 2];
        for (int i = 0; i < spans.length; i++) {
            long begin = Long.MAX_VALUE;
            long end = Long.MIN_VALUE;
            for (long[] own : times) {
                begin = Math.min(begin, own[2 * i]);
                end = Math.max(end, own[2 * i + 1]);
            }
            spans[i] = end - begin;
        }
        Arrays.sort(spans);
        return spans[measure == Measure.BARRIER ? 0 : spans.length / 2];
    }

    /** By number of processes, the places of the scenarios that can have so many. */
    private Map<Integer, List<Integer>> able(List<Scenario> scenarios) {
        Map<Integer, List<Integer>> able = new TreeMap<>();
        for (int size : processes) {
            for (int i = 0; i < scenarios.size(); i++) {
                if (isAble(scenarios.get(i), size)) {
                    able.computeIfAbsent(size, s -> new ArrayList<>()).add(i);
                }
            }
        }
        if (able.isEmpty()) {
            throw new Messages.Failure("nothing is left to be compared");
        }
        return able;
    }

    private boolean isAble(Scenario scenario, int size) {
        try {
            scenario.prepare(new Machine(), size, options());
            SimPeer.script(scenario, size, seed, options().bytes()).checkPerformable();
            return true;
        } catch (IllegalArgumentException | UnsupportedOperationException e) {
            spec.commandLine()
                    .getErr()
                    .println("left out: " + scenario.name() + ": " + e.getMessage());
            return false;
        }
    }

    private ScenarioOptions options() {
        return new ScenarioOptions(seed, bytes == null ? -1 : bytes);
    }

    private void measure(
            List<Scenario> scenarios,
            int size,
            List<Integer> able,
            Calibration calibration,
            List<Point> points)
            throws Exception {
        String ableNames = able.stream().map(names::get).collect(Collectors.joining(","));
        Map<Integer, long[][]> times = SimPeers.run(size, arguments(ableNames, options().bytes()));
        for (int i = 0; i < able.size(); i++) {
            Scenario scenario = scenarios.get(able.get(i));
            SimulationResult result = predict(scenario, size, calibration);
            double ns = figure(scenario.measure(), times.get(i));
            double real =
                    switch (scenario.measure()) {
                        case BARRIER -> ns / 1e3;
                        case BANDWIDTH -> result.putBytes() / (double) size / ns;
                        default -> ns / 1e6;
                    };
            double expected = scenario.measure().of(result);
            points.add(new Point(scenario.name(), scenario.measure(), size, real, expected));
        }
    }

    /** Processes that share a processor share what it copies, as those of a node do. */
    private SimulationResult predict(Scenario scenario, int size, Calibration calibration) {
        int processors = Runtime.getRuntime().availableProcessors();
        int perNode = (size + processors - 1) / processors;
        Machine machine = new Machine();
        scenario.prepare(machine, size, options());
        calibration.apply(machine, Math.max(2, (size + perNode - 1) / perNode));
        return new Simulation(machine.topology(), machine.network())
                .processes(size)
                .perNode(perNode)
                .run(scenario.program(size, options()));
    }

    private void print(PrintWriter out, Calibration calibration, List<Point> points) {
        if (isJson) {
            Map<String, Object> all = new LinkedHashMap<>(fields(calibration));
            all.put("points", points.stream().map(SimCompare::fields).toList());
            out.println(Json.of(all));
            return;
        }
        out.println(
                text(
                        "calibrated over %s: node latency %.3f us, copying %.3f GB/s per process",
                        scheme, calibration.latencyPs() / 1e6, calibration.bytesPerSecond() / 1e9));
        out.println(
                text(
                        "%-24s %9s %12s %12s %8s  %s",
                        "scenario", "processes", "real", "predicted", "error", ""));
        for (Point p : points) {
            out.println(
                    text(
                            "%-24s %9d %12.4f %12.4f %+7.1f%%  %s",
                            p.scenario,
                            p.size,
                            p.real,
                            p.predicted,
                            p.errorPercent(),
                            p.measure.unit()));
        }
    }

    private static Map<String, Object> fields(Calibration calibration) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("node_latency_us", calibration.latencyPs() / 1e6);
        fields.put("copy_gb_per_s", calibration.bytesPerSecond() / 1e9);
        return fields;
    }

    private static Map<String, Object> fields(Point point) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("scenario", point.scenario);
        fields.put("processes", point.size);
        fields.put("unit", point.measure.unit());
        fields.put("real", point.real);
        fields.put("predicted", point.predicted);
        fields.put("error_percent", point.errorPercent());
        return fields;
    }

    private ExperimentReport report(Calibration calibration, List<Point> points) {
        ExperimentReport report = new ExperimentReport("Measured and predicted");
        report.section(
                "Measured and predicted",
                "The same programs as real processes and in the simulator, which knows two numbers"
                        + " of this machine: the node latency and the rate of copying.");
        fields(calibration).forEach(report::figure);
        for (String name : points.stream().map(p -> p.scenario).distinct().toList()) {
            List<Point> own = points.stream().filter(p -> p.scenario.equals(name)).toList();
            double[] xs = own.stream().mapToDouble(p -> p.size).toArray();
            Chart chart = new Chart(name, "processes", own.get(0).measure.unit(), false);
            chart.line("real", "one", xs, own.stream().mapToDouble(p -> p.real).toArray(), true);
            double[] expected = own.stream().mapToDouble(p -> p.predicted).toArray();
            chart.line("predicted", "two", xs, expected, true);
            report.chart(name, chart);
        }
        List<List<String>> rows = new ArrayList<>();
        for (Point p : points) {
            report.point(fields(p));
            rows.add(
                    List.of(
                            p.scenario,
                            Integer.toString(p.size),
                            text("%.4f %s", p.real, p.measure.unit()),
                            text("%.4f", p.predicted),
                            text("%+.1f", p.errorPercent())));
        }
        report.table(List.of("scenario", "processes", "real", "predicted", "error, %"), rows);
        return report;
    }

    private Map<String, Object> environment() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("processors", Runtime.getRuntime().availableProcessors());
        fields.put("kernel", System.getProperty("os.version"));
        fields.put("java", System.getProperty("java.vm.version"));
        fields.put("transport", scheme);
        fields.put("seed", seed);
        fields.put("repeat", repeat);
        fields.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        return fields;
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
