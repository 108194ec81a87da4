package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.ProgressHandler;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.scenario.Curve;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.nsim.scenario.Scenarios;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** {@code verbena sim}: a program of puts and gets on a modelled interconnect. */
@Command(
        name = "sim",
        description = {
            "Predict how long a communication pattern takes on a modelled interconnect, packet by"
                    + " packet, in virtual time. Without a scenario: list them.",
            "Each scenario has the machine of the NSIM-ACE paper; --set changes it. A scenario is a"
                    + " file: --print shows one, and a file of your own runs like it."
        },
        subcommands = {
            SimCompare.class,
            SimLevelsCommand.class,
            SimDartCommand.class,
            SimSweepCommand.class,
            SimEventsCommand.class
        },
        sortOptions = false)
public final class SimCommand extends CliCommand {
    private static final int PROCESSES_MAX = 1 << 22;
    private static final List<Integer> PROCESSES = List.of(16);
    private static final int FILE_MAX = 1 << 24;
    private static final int THREADS_MAX = 256;
    private static final long QUIET_NS = 1_000_000_000L;

    @Parameters(
            paramLabel = "SCENARIO|FILE",
            arity = "0..1",
            description = "What to run: a scenario's name, or a file.")
    private String scenarioName;

    @Option(
            names = {"-n", "--processes"},
            paramLabel = "N",
            split = ",",
            description =
                    "How many processes; several numbers (4,8,16) for several runs. Default: 16.")
    private List<Integer> processes;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description =
                    "Change the machine, as topology=torus(8,8,8) or link.bandwidth=12.5e9, or a"
                            + " parameter of the scenario.")
    private List<String> settings = List.of();

    @Option(
            names = "--level",
            paramLabel = "LEVEL",
            description =
                    "packet (the default), message (a flow per message: fast, for very many nodes)"
                            + " or flit (slow reference). Short for --set level=LEVEL.")
    private String level;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description =
                    "Divide the machine among so many threads; the result is the same to the bit."
                            + " Packet level only. Default: 1.")
    private int threads = 1;

    @Option(names = "--per-node", paramLabel = "K", description = "Processes on each node.")
    private Integer perNode;

    @Option(names = "--bytes", paramLabel = "B", description = "Bytes of each message.")
    private Long bytes;

    @Option(names = "--seed", paramLabel = "S", description = "For what is random. Default: 1.")
    private long seed = 1;

    @Option(names = "--json", description = "Print one JSON object per run.")
    private boolean isJson;

    @Option(
            names = "--figure",
            description =
                    "Run what the scenario's figure shows: all its curves, or those numbers of"
                            + " processes of them that are given.")
    private boolean isFigure;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Write report.html with curves and the heat map of cables, results.json,"
                            + " points.csv, links.csv and ranks.csv there; absent or empty.")
    private Path output;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Write a line for each message to a new file, or into a pipe, in CSV.")
    private Path trace;

    @Option(
            names = "--events",
            paramLabel = "FILE",
            description =
                    "Write each event, 32 bytes, to a new file, or into a pipe; read it with verbena"
                            + " sim events FILE.")
    private Path events;

    @Option(names = "--print", description = "Print the scenario's file and end.")
    private boolean isPrinted;

    /** Whether there are results, which stay whatever is refused later. */
    private boolean hasRun;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = out();
        if (scenarioName == null) {
            for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
                if (!option.inherited()) {
                    throw wrong(
                            option.longestName() + ": of which scenario? verbena sim lists them");
                }
            }
            StringBuilder list = new StringBuilder();
            Scenarios.all()
                    .forEach(
                            s ->
                                    list.append(String.format("%-23s ", s.name()))
                                            .append(s.description())
                                            .append('\n'));
            out.print(Columns.fold(list.toString(), Columns.width()));
            out.println("Run one: verbena sim ring-barrier --processes 32");
            return 0;
        }
        if (isPrinted) {
            out.print(checked(() -> Scenarios.text(scenarioName)));
            out.flush();
            return 0;
        }
        Scenario scenario = checked(() -> scenario(scenarioName));
        check();
        List<Path> made = new ArrayList<>();
        for (Path written : new Path[] {trace, events, output}) {
            made.addAll(written == null ? List.of() : OutputFolder.absent(written));
        }
        try {
            simulate(scenario);
        } catch (ParameterException | Messages.Failure e) {
            boolean isRefused = e instanceof ParameterException && !hasRun;
            made.removeIf(path -> !isRefused && !Files.isDirectory(path));
            OutputFolder.removeEmpty(made);
            throw e;
        }
        return 0;
    }

    private void simulate(Scenario scenario) {
        SimReport report = null;
        if (output != null) {
            OutputFolder.prepare("--output", output);
            report = new SimReport(scenario.name(), scenario.description(), scenario.measure());
        }
        if (trace == null && events == null) {
            runAll(scenario, report, null);
        } else {
            runTraced(scenario, report);
        }
        if (report != null) {
            SimReport written = report;
            OutputFolder.write("--output", output, () -> written.write(output, environment()));
            // Behind JSON it would be no part of it.
            (isJson ? err() : out()).println("report: " + output.resolve("report.html"));
        }
    }

    private void check() {
        inRange("--threads", threads, 1, THREADS_MAX);
        if (threads > 1 && (trace != null || events != null)) {
            String option = trace != null ? "--trace" : "--events";
            throw wrong(option + " is written by one thread; leave out --threads");
        }
        if (trace != null && trace.equals(events)) {
            throw wrong("--trace and --events are the same file, " + trace);
        }
        if (threads > 1 && level != null && !level.equals("packet")) {
            throw wrong(
                    "--threads %s: only the packet level can be divided, leave out --level",
                    threads);
        }
        if (perNode != null && perNode < 1) {
            throw wrong("--per-node " + perNode + " is less than 1");
        }
        if (bytes != null && bytes < 0) {
            throw wrong("--bytes " + bytes + " is negative");
        }
        for (int count : processes == null ? PROCESSES : processes) {
            inRange("--processes", count, 1, PROCESSES_MAX);
        }
    }

    private void runTraced(Scenario scenario, SimReport report) {
        SimTraces traces = SimTraces.open(trace, events);
        OutputFolder.write(
                "--trace",
                trace,
                () -> {
                    try (traces) {
                        runAll(scenario, report, traces);
                    }
                });
    }

    /** What any run needs is looked at before the first, which may be long. */
    private void runAll(Scenario scenario, SimReport report, SimTraces traces) {
        Curve usual = new Curve(scenario.name(), Integer.MAX_VALUE, scenario.measure(), List.of());
        List<Integer> numbers = processes != null ? processes : PROCESSES;
        if (isFigure && processes == null && !scenario.figure().isEmpty()) {
            numbers = scenario.figure();
        }
        List<Curve> curves = isFigure ? scenario.curves() : List.of(usual);
        int most = curves.stream().mapToInt(Curve::processesMax).max().orElseThrow();
        if (Collections.min(numbers) > most) {
            throw wrong(
                    "--processes %s: no curve of %s goes so far; the longest goes to %s",
                    Collections.min(numbers), scenario.name(), most);
        }
        List<Runnable> runs = new ArrayList<>();
        for (Curve curve : curves) {
            if (isFigure && !isJson) {
                runs.add(() -> say(curve.name()));
            }
            for (int count : numbers) {
                if (count <= curve.processesMax()) {
                    runs.add(prepared(scenario, curve, count, report, traces));
                }
            }
        }
        runs.forEach(Runnable::run);
    }

    private Map<String, Object> environment() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("java", System.getProperty("java.vm.version"));
        fields.put("seed", seed);
        fields.put("command", commandLine());
        return fields;
    }

    /** One that comes with the simulator, or a file. */
    static Scenario scenario(String name) throws IOException {
        Path file = Path.of(name);
        if (!Files.isRegularFile(file)) {
            if (name.contains("/") || name.contains(".")) {
                boolean isFolder = Files.isDirectory(file);
                throw new IllegalArgumentException(
                        isFolder ? name + " is a folder, no file" : "there is no file " + name);
            }
            return Scenarios.named(name);
        }
        if (Files.size(file) > FILE_MAX) {
            throw new IllegalArgumentException(
                    name + " is longer than a scenario can be, " + FILE_MAX + " bytes");
        }
        try {
            return Scenario.parse(name, Files.readString(file));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(name + " is no text in UTF-8", e);
        }
    }

    private <T> T checked(Callable<T> call) {
        try {
            return call.call();
        } catch (IllegalArgumentException e) {
            throw wrong(e.getMessage());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Runnable prepared(
            Scenario scenario, Curve curve, int count, SimReport report, SimTraces traces) {
        Machine machine = new Machine();
        Map<String, Long> parameters = new LinkedHashMap<>();
        List<String> changes = new ArrayList<>(curve.settings());
        changes.addAll(settings);
        if (level != null) {
            changes.add("level=" + level);
        }
        Callable<Simulation> building =
                () ->
                        new Simulation(machine.topology(), machine.network())
                                .processes(count)
                                .perNode(perNode != null ? perNode : scenario.perNode())
                                .parallel(threads, threads, SimCommand::start);
        checked(
                () -> {
                    changes.forEach(s -> parameter(scenario, s, parameters));
                    scenario.prepare(machine, count, options(parameters));
                    changes.stream()
                            .filter(s -> !scenario.isParameter(key(s)))
                            .forEach(machine::set);
                    machine.network().isDetailed(report != null);
                    return building.call();
                });
        return () -> {
            // Built again: nodes and cables of all runs at once may be too many for the memory.
            Simulation simulation = checked(building);
            if (traces != null) {
                traces.watch(simulation, machine.topology(), curve.name(), count);
            }
            long began = System.nanoTime();
            SimulationResult result =
                    run(simulation, () -> scenario.program(count, options(parameters)));
            double seconds = (System.nanoTime() - began) / 1e9;
            if (report != null) {
                report.add(curve, result, json(scenario, machine, result, seconds));
            }
            print(scenario, curve, machine, result, seconds);
            hasRun = true;
        };
    }

    private SimulationResult run(Simulation simulation, Supplier<Program> program) {
        ProgressLine line = new ProgressLine(err());
        simulation.progress(progress(line, System.nanoTime()));
        try {
            return checked(() -> simulation.run(program.get()));
        } finally {
            line.end();
        }
    }

    /** A thread for a part of the machine; it ends with the run. */
    private static void start(Runnable part) {
        Thread thread = new Thread(part, "sim-part");
        thread.setDaemon(true);
        thread.start();
    }

    private ScenarioOptions options(Map<String, Long> parameters) {
        return new ScenarioOptions(seed, bytes == null ? -1 : bytes, parameters);
    }

    private static String key(String setting) {
        return setting.split("=", 2)[0].strip();
    }

    /** Takes a setting that is meant for the scenario. */
    private static void parameter(Scenario scenario, String setting, Map<String, Long> parameters) {
        if (!scenario.isParameter(key(setting))) {
            return;
        }
        if (!setting.contains("=")) {
            throw new IllegalArgumentException(
                    "'%s' is not key=value; it is a parameter of %s, as in %s=1"
                            .formatted(setting, scenario.name(), key(setting)));
        }
        String value = setting.split("=", 2)[1].strip();
        if (!value.matches("-?[0-9]{1,18}")) {
            throw new IllegalArgumentException(
                    setting + ": a parameter of " + scenario.name() + " is a whole number");
        }
        parameters.put(key(setting), Long.parseLong(value));
    }

    /** Short runs say nothing. */
    static ProgressHandler progress(ProgressLine line, long began) {
        return (done, total, events, timePs) -> {
            if (System.nanoTime() - began > QUIET_NS) {
                line.percent(
                        done,
                        total,
                        Text.format(
                                "%d of %d puts, %.1f us of virtual time",
                                done, total, timePs / 1e6));
            }
        };
    }

    private void print(
            Scenario scenario,
            Curve curve,
            Machine machine,
            SimulationResult result,
            double seconds) {
        if (isJson) {
            say(Json.of(json(scenario, machine, result, seconds)));
            return;
        }
        Machine usual = new Machine();
        double[] busiest = SimReport.busiest(result);
        StringBuilder differs = new StringBuilder();
        machine.values()
                .forEach(
                        (key, value) -> {
                            if (!value.equals(usual.values().get(key)) && !key.equals("topology")) {
                                differs.append(", ").append(key).append('=').append(value);
                            }
                        });
        say(
                "%s, %d processes: %s",
                scenario.name(), result.processes(), curve.measure().line(result));
        say("  machine: %s%s; otherwise Table 1 of the paper", result.topology().name(), differs);
        say(
                "  busiest cable: %s, %.1f %% of the time",
                SimReport.name(result.links(), (int) busiest[0]), 100 * busiest[1]);
        say(
                "  %d puts, median latency %.3f us, 99 %% %.3f us, longest %.3f us",
                result.putCount(),
                result.latency().getValueAtPercentile(50) / 1e3,
                result.latency().getValueAtPercentile(99) / 1e3,
                result.latency().getMaxValue() / 1e3);
        say(
                "  %d events in %.2f s, seed %d, trace %016x",
                result.events(), seconds, seed, result.traceHash());
    }

    private Map<String, Object> json(
            Scenario scenario, Machine machine, SimulationResult result, double seconds) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("scenario", scenario.name());
        json.put("processes", result.processes());
        json.put("execution_us", result.executionPs() / 1e6);
        json.put("bandwidth_gb_per_s_per_process", result.bandwidthPerProcess());
        json.put("puts", result.putCount());
        json.put("bytes", result.putBytes());
        json.put("latency_p50_ns", result.latency().getValueAtPercentile(50));
        json.put("latency_max_ns", result.latency().getMaxValue());
        json.put("events", result.events());
        json.put("wall_s", seconds);
        json.put("seed", seed);
        json.put("trace", Text.format("%016x", result.traceHash()));
        json.put("machine", machine.values());
        return json;
    }
}
