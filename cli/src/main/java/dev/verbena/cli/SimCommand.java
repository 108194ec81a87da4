package dev.verbena.cli;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.ProgressHandler;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.scenario.Scenario;
import dev.verbena.nsim.scenario.ScenarioOptions;
import dev.verbena.nsim.scenario.Scenarios;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena sim}: a program of puts and gets on a modelled interconnect. */
@Command(
        name = "sim",
        description = {
            "Predict how long a communication pattern takes on a modelled interconnect, packet by"
                    + " packet, in virtual time. Without a scenario: list them.",
            "Each scenario has the machine of the NSIM-ACE paper; --set changes it."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimCommand implements Callable<Integer> {
    private static final int PROCESSES_MAX = 1 << 22;
    private static final long QUIET_NS = 1_000_000_000L;

    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "SCENARIO", arity = "0..1", description = "What to run.")
    private String scenarioName;

    @Option(
            names = {"-n", "--processes"},
            paramLabel = "N",
            split = ",",
            description =
                    "How many processes; several numbers (4,8,16) for several runs. Default: 16.")
    private List<Integer> processes = List.of(16);

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Change the machine, as topology=torus(8,8,8) or link.bandwidth=12.5e9.")
    private List<String> settings = List.of();

    @Option(names = "--per-node", paramLabel = "K", description = "Processes on each node.")
    private Integer perNode;

    @Option(names = "--bytes", paramLabel = "B", description = "Bytes of each message.")
    private Long bytes;

    @Option(names = "--seed", paramLabel = "S", description = "For what is random. Default: 1.")
    private long seed = 1;

    @Option(names = "--json", description = "Print one JSON object per run.")
    private boolean isJson;

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        if (scenarioName == null) {
            Scenarios.all().forEach(s -> out.printf("%-20s %s%n", s.name(), s.description()));
            out.println("Run one: verbena sim ring-barrier --processes 32");
            return 0;
        }
        Scenario scenario = checked(() -> Scenarios.named(scenarioName));
        for (int count : processes) {
            run(out, scenario, count);
        }
        return 0;
    }

    private <T> T checked(Callable<T> call) {
        try {
            return call.call();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private void run(PrintWriter out, Scenario scenario, int count) {
        if (count < 1 || count > PROCESSES_MAX) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--processes " + count + " is outside 1 to " + PROCESSES_MAX);
        }
        if (bytes != null && bytes < 0) {
            throw new ParameterException(spec.commandLine(), "--bytes " + bytes + " is negative");
        }
        Machine machine = new Machine();
        scenario.prepare(machine, count);
        Simulation simulation =
                checked(
                        () -> {
                            settings.forEach(machine::set);
                            return new Simulation(machine.topology(), machine.network())
                                    .processes(count)
                                    .perNode(perNode != null ? perNode : scenario.perNode());
                        });
        ScenarioOptions options = new ScenarioOptions(seed, bytes == null ? -1 : bytes);
        ProgressLine line = new ProgressLine(spec.commandLine().getErr());
        long began = System.nanoTime();
        simulation.progress(progress(line, began));
        SimulationResult result = checked(() -> simulation.run(scenario.program(count, options)));
        line.end();
        print(out, scenario, machine, result, (System.nanoTime() - began) / 1e9);
        out.flush();
    }

    /** Short runs say nothing. */
    private static ProgressHandler progress(ProgressLine line, long began) {
        return (done, total, events, timePs) -> {
            if (System.nanoTime() - began > QUIET_NS) {
                line.percent(
                        done,
                        total,
                        text("%d of %d puts, %.1f us of virtual time", done, total, timePs / 1e6));
            }
        };
    }

    private void print(
            PrintWriter out,
            Scenario scenario,
            Machine machine,
            SimulationResult result,
            double seconds) {
        if (isJson) {
            out.println(Json.of(json(scenario, machine, result, seconds)));
            return;
        }
        Machine usual = new Machine();
        StringBuilder differs = new StringBuilder();
        machine.values()
                .forEach(
                        (key, value) -> {
                            if (!value.equals(usual.values().get(key)) && !key.equals("topology")) {
                                differs.append(", ").append(key).append('=').append(value);
                            }
                        });
        out.println(
                text(
                        "%s, %d processes: %s",
                        scenario.name(), result.processes(), scenario.result(result)));
        out.println(
                text(
                        "  machine: %s%s; otherwise Table 1 of the paper",
                        result.topology().name(), differs));
        out.println(
                text(
                        "  %d puts, median latency %.3f us, 99 %% %.3f us, longest %.3f us",
                        result.putCount(),
                        result.latency().getValueAtPercentile(50) / 1e3,
                        result.latency().getValueAtPercentile(99) / 1e3,
                        result.latency().getMaxValue() / 1e3));
        out.println(
                text(
                        "  %d events in %.2f s, seed %d, trace %016x",
                        result.events(), seconds, seed, result.traceHash()));
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
        json.put("trace", text("%016x", result.traceHash()));
        json.put("machine", machine.values());
        return json;
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
