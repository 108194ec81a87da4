package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.nsim.Machine;
import dev.verbena.nsim.dart.DartReport;
import dev.verbena.nsim.dart.DartSimulation;
import dev.verbena.nsim.dart.DartWallTimes;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena sim dart}: DART's own agents on a modelled machine. */
@Command(
        name = "dart",
        description =
                "Stage data with DART's own agents, unchanged, on a modelled machine in virtual"
                        + " time: where does the time go?",
        sortOptions = false)
final class SimDartCommand extends CliCommand {
    private static final double MILLION = 1e6;

    @Option(
            names = {"-n", "--nodes"},
            description = "Compute nodes. Default: ${DEFAULT-VALUE}.")
    private int nodes = 64;

    @Option(names = "--servers", description = "Default: ${DEFAULT-VALUE}.")
    private int servers = 2;

    @Option(names = "--receivers", description = "Default: one for four servers.")
    private Integer receivers;

    @Option(names = "--messages", description = "Of each node. Default: ${DEFAULT-VALUE}.")
    private int messages = 4;

    @Option(names = "--bytes", description = "Of a message. Default: ${DEFAULT-VALUE}.")
    private int bytes = 4 << 20;

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
            names = "--level",
            paramLabel = "LEVEL",
            description =
                    "Of the network: packet, flit (slow), or message (fast: a message is one flow)."
                            + " Default: packet.")
    private String level;

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
        inRange("--compute-ms", computeMs, 0.0, 1e9);
        inRange("--stream-gbps", streamGb, 1e-6, 1e6);
        ProgressLine line = new ProgressLine(err());
        long began = System.nanoTime();
        DartReport report;
        DartSimulation simulation = new DartSimulation();
        try {
            Machine machine = new Machine();
            machine.set("packet.payload=16384");
            settings.forEach(machine::set);
            if (level != null) {
                machine.set("level", level);
            }
            if (receivers != null) {
                simulation.receivers(receivers);
            }
            report =
                    simulation
                            .nodes(nodes)
                            .servers(servers)
                            .messages(messages)
                            .length(bytes)
                            .computeNs((long) (computeMs * MILLION))
                            .inFlight(inFlight)
                            .streamRate((long) (streamGb * 1e9))
                            .filled(isFilled)
                            .seed(seed)
                            .machine(machine)
                            .wallClock(System::nanoTime)
                            .progress(
                                    percent -> {
                                        line.percent(percent, 100, percent + " % delivered");
                                        return true;
                                    })
                            .run();
        } catch (IllegalArgumentException e) {
            // The simulation's parameters are called as the options are.
            String option = "--" + e.getMessage().split(" ", 2)[0];
            boolean isOption = spec.optionsMap().containsKey(option);
            String message = (isOption ? "--" : "") + e.getMessage();
            throw wrong(message);
        } finally {
            line.end();
        }
        print(report);
        print(report, simulation.wallTimes(), (System.nanoTime() - began) / 1e9);
        return 0;
    }

    private void print(DartReport r) {
        say(
                "%d nodes, %d servers, %d receivers: %d messages, %d bytes in %.3f ms of virtual"
                        + " time",
                r.nodes(),
                r.servers(),
                r.receivers(),
                r.messages(),
                r.bytes(),
                r.totalNs() / MILLION);
        say(
                "  before:   servers ready after %.3f ms, all nodes registered %.3f ms later",
                r.bootNs() / MILLION, r.registerNs() / MILLION);
        say(
                "  a node:   computing %.3f ms, waiting to send %.3f ms (at most %.3f ms)",
                r.computeNs() / MILLION, r.blockedMeanNs() / MILLION, r.blockedMaxNs() / MILLION);
        say(
                "  a piece:  pulled in %.3f ms, queued %.3f ms, streamed and acknowledged in %.3f"
                        + " ms",
                r.pullNs() / MILLION, r.queueNs() / MILLION, r.streamNs() / MILLION);
        say(
                "  used:     cables into servers %.1f %%, servers' lines %.1f %%, receivers' lines"
                        + " %.1f %%",
                100 * r.serverCableShare(), 100 * r.serverLineShare(), 100 * r.receiverShare());
    }

    private void print(DartReport r, DartWallTimes wall, double seconds) {
        say(
                "  %d events, %d steps of agents in %.2f s, seed %d, trace %016x",
                r.events(), r.steps(), seconds, seed, r.traceHash());
        say(
                "  of these: making %.2f s, servers starting %.2f s, run %.2f s, end %.2f s",
                wall.setUpNs() / 1e9, wall.bootNs() / 1e9, wall.runNs() / 1e9, wall.endNs() / 1e9);
        say(
                "  spent in: nodes %.2f s, master %.2f s, slaves %.2f s, receivers %.2f s, network"
                        + " and streams %.2f s; heap %d MiB of %d MiB in use",
                wall.computesNs() / 1e9,
                wall.masterNs() / 1e9,
                wall.slavesNs() / 1e9,
                wall.receiversNs() / 1e9,
                wall.modelNs() / 1e9,
                (Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory()) >> 20,
                Runtime.getRuntime().maxMemory() >> 20);
    }
}
