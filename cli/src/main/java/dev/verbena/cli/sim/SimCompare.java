package dev.verbena.cli.sim;

import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.ProgressLine;
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
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

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
        sortOptions = false)
final class SimCompare extends CliCommand {
    private static final int PROCESSES_MAX = 64;
    private static final int REPEAT_MAX = 100_000;
    private static final List<String> USUAL =
            List.of(
                    "ring-barrier",
                    "recursive-doubling",
                    "random-ring",
                    "random-ring-get",
                    "particle-exchange");

    @Parameters(
            paramLabel = "SCENARIO|FILE",
            arity = "0..*",
            description = "What to run. Default: the barriers, the rings and the exchange.")
    private List<String> names = USUAL;

    @Option(
            names = {"-n", "--processes"},
            paramLabel = "N",
            split = ",",
            description = "Numbers of processes, 2 to " + PROCESSES_MAX + ". Default: 2,4,8.")
    private List<Integer> processes = List.of(2, 4, 8);

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            description = "Transport of the real processes. Default: shm.")
    private String scheme = "shm";

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

    @Override
    public Integer call() throws Exception {
        check();
        List<Scenario> scenarios = new ArrayList<>();
        for (String name : names) {
            scenarios.add(checked(() -> SimCommand.scenario(name)));
        }
        Map<Integer, List<Integer>> able = able(scenarios);
        if (output != null) {
            OutputFolder.prepare("--output", output);
        }
        PrintWriter out = out();
        Calibration calibration = calibrate();
        SimComparison comparison = new SimComparison(scheme, calibration);
        ProgressLine line = new ProgressLine(err());
        int done = 0;
        for (Map.Entry<Integer, List<Integer>> run : able.entrySet()) {
            line.percent(done++, able.size(), run.getKey() + " processes");
            measure(scenarios, run.getKey(), run.getValue(), calibration, comparison);
        }
        line.end();
        if (isJson) {
            out.println(Json.of(comparison.json()));
        } else {
            comparison.print(out, Columns.width());
        }
        if (output != null) {
            ResultReport report = comparison.report();
            OutputFolder.write("--output", output, () -> report.write(output, environment()));
            // Behind JSON it would be no part of it.
            (isJson ? err() : out).println("report: " + output.resolve("report.html"));
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
            List<String> known = Transports.providers().stream().map(p -> p.scheme()).toList();
            throw wrong(
                    "--transport " + scheme + ": there is no such transport; there are " + known);
        }
        String cause = Transports.provider(scheme).unavailabilityCause();
        if (cause != null) {
            throw new Messages.Failure(
                    "--transport " + scheme + " cannot work on this machine: " + cause);
        }
    }

    private <T> T checked(Callable<T> call) throws Exception {
        try {
            return call.call();
        } catch (IllegalArgumentException e) {
            throw wrong(e.getMessage());
        }
    }

    private List<String> arguments(String scenarios, long ownBytes) {
        return List.of(
                "--transport=" + scheme,
                "--repeat=" + repeat,
                "--warm-up=" + warmUp,
                "--seed=" + seed,
                "--bytes=" + ownBytes,
                "--scenarios=" + scenarios);
    }

    /** With the programs' own lengths: they are what is calibrated, not what is asked for. */
    private Calibration calibrate() throws Exception {
        String both = Calibration.BARRIER + "," + Calibration.RING;
        Map<Integer, long[][]> times = SimPeers.run(2, arguments(both, -1));
        Script ring = SimPeer.script(SimCommand.scenario(Calibration.RING), 2, seed, -1);
        return SimMeasurements.calibration(
                times.get(0), times.get(1), ring.putBytes() / ring.size());
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
            err().println("left out: " + scenario.name() + ": " + e.getMessage());
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
            SimComparison comparison)
            throws Exception {
        String ableNames = able.stream().map(names::get).collect(Collectors.joining(","));
        Map<Integer, long[][]> times = SimPeers.run(size, arguments(ableNames, options().bytes()));
        for (int i = 0; i < able.size(); i++) {
            Scenario scenario = scenarios.get(able.get(i));
            SimulationResult result = predict(scenario, size, calibration);
            Measure measure = scenario.measure();
            double ns = SimMeasurements.figureNs(measure, times.get(i));
            double bytesEach = result.putBytes() / (double) size;
            double real = SimMeasurements.inUnit(measure, ns, bytesEach);
            comparison.add(
                    new SimComparison.Point(
                            scenario.name(), measure, size, real, measure.of(result)));
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
}
