package dev.verbena.cli;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.dart.DartReport;
import dev.verbena.nsim.dart.DartSimulation;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena sim dart}: DART's own agents on a modelled machine. */
@Command(
        name = "dart",
        description =
                "Stage data with DART's own agents, unchanged, on a modelled machine in virtual"
                        + " time: where does the time go?",
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class SimDartCommand implements Callable<Integer> {
    private static final double MILLION = 1e6;

    @Spec private CommandSpec spec;

    @Option(
            names = {"-n", "--nodes"},
            description = "Compute nodes. Default: ${DEFAULT-VALUE}.")
    private int nodes = 64;

    @Option(names = "--servers", description = "Default: ${DEFAULT-VALUE}.")
    private int servers = 2;

    @Option(names = "--receivers", description = "Default: ${DEFAULT-VALUE}.")
    private int receivers = 1;

    @Option(names = "--messages", description = "Of each node. Default: ${DEFAULT-VALUE}.")
    private int messages = 4;

    @Option(names = "--bytes", description = "Of a message. Default: ${DEFAULT-VALUE}.")
    private int bytes = 1 << 20;

    @Option(
            names = "--compute-ms",
            description = "Computing before each message. Default: ${DEFAULT-VALUE}.")
    private double computeMs = 100;

    @Option(
            names = "--in-flight",
            description = "Messages under way before a send waits. Default: ${DEFAULT-VALUE}.")
    private int inFlight = 1;

    @Option(
            names = "--stream-gbps",
            description =
                    "GB/s of each server's and receiver's line out of the machine. Default:"
                            + " ${DEFAULT-VALUE}.")
    private double streamGb = 1.25;

    @Option(
            names = "--filled",
            description = "Move and compare every byte; otherwise payloads are sizes only.")
    private boolean isFilled;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Change the machine, as topology=torus(8,8,8). Default: one switch.")
    private List<String> settings = List.of();

    @Option(names = "--seed", paramLabel = "S", description = "For what is random. Default: 1.")
    private long seed = 1;

    @Override
    public Integer call() {
        ProgressLine line = new ProgressLine(spec.commandLine().getErr());
        long began = System.nanoTime();
        DartReport report;
        try {
            Machine machine = new Machine();
            machine.set("packet.payload=16384");
            settings.forEach(machine::set);
            report =
                    new DartSimulation()
                            .nodes(nodes)
                            .servers(servers)
                            .receivers(receivers)
                            .messages(messages)
                            .length(bytes)
                            .computeNs((long) (computeMs * MILLION))
                            .inFlight(inFlight)
                            .streamRate((long) (streamGb * 1e9))
                            .filled(isFilled)
                            .seed(seed)
                            .machine(machine)
                            .progress(
                                    percent -> {
                                        line.percent(percent, 100, percent + " % delivered");
                                        return true;
                                    })
                            .run();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        } finally {
            line.end();
        }
        print(spec.commandLine().getOut(), report, (System.nanoTime() - began) / 1e9);
        return 0;
    }

    private void print(PrintWriter out, DartReport r, double seconds) {
        say(
                out,
                "%d nodes, %d servers, %d receivers: %d messages, %d bytes in %.3f ms of virtual"
                        + " time",
                r.nodes(),
                r.servers(),
                r.receivers(),
                r.messages(),
                r.bytes(),
                r.totalNs() / MILLION);
        say(
                out,
                "  a node:   computing %.3f ms, waiting to send %.3f ms (at most %.3f ms)",
                r.computeNs() / MILLION,
                r.blockedMeanNs() / MILLION,
                r.blockedMaxNs() / MILLION);
        say(
                out,
                "  a piece:  pulled in %.3f ms, queued %.3f ms, streamed and acknowledged in %.3f"
                        + " ms",
                r.pullNs() / MILLION,
                r.queueNs() / MILLION,
                r.streamNs() / MILLION);
        say(out, "  receivers' lines: %.1f %% used", 100 * r.receiverShare());
        say(
                out,
                "  %d events in %.2f s, seed %d, trace %016x",
                r.events(),
                seconds,
                seed,
                r.traceHash());
        out.flush();
    }

    private static void say(PrintWriter out, String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
    }
}
