package dev.verbena.cli.demo;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.examples.pic.DeckException;
import dev.verbena.examples.pic.PicDeck;
import dev.verbena.examples.pic.PicProgram;
import dev.verbena.examples.pic.RestartNames;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena demo}: the whole chain, from a simulation's memory to a report. */
@Command(
        name = "demo",
        description = {
            "Show what Verbena saves a simulation: compare it with writing files, stage a run, kill"
                    + " the receiver halfway, check every file, write a report.",
            "",
            "Compute processes simulate two beams of electrons. First the same steps are computed"
                    + " with no output, with each process writing its files, and with the files"
                    + " handed to Verbena. Then comes the run: service processes read the restart"
                    + " files out of the simulation's memory and stream them to a receiver, which"
                    + " stores and analyses them. Every process is its own operating-system process;"
                    + " their logs are in the output folder."
        },
        sortOptions = false)
public final class DemoCommand extends CliCommand {
    private static final String OUTPUT = "demo-output";

    @Option(
            names = "--deck",
            paramLabel = "FILE",
            description = "Input deck. Default: examples/two-stream.conf, which documents itself.")
    private Path deckFile;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            description =
                    "Folder for report, restart files and logs; absent or empty. Default: the"
                            + " next free demo-output/run-N.")
    private Path output;

    @Mixin private TransportOption transport;

    @Option(
            names = "--ranks",
            paramLabel = "N",
            description = "Compute processes, 1 to 64. Default: what the deck says.")
    private Integer ranks;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "Service processes: a master and N-1 slaves, 1 to 16. Default: 2.")
    private int servers = 2;

    @Option(
            names = "--steps",
            paramLabel = "N",
            description = "Steps of the whole run. Default: what the deck says.")
    private Long steps;

    @Option(names = "--buffered", description = "In the run, send a restart file as one message.")
    private boolean isBuffered;

    @Option(names = "--unbuffered", description = "In the run, send a restart file item by item.")
    private boolean isUnbuffered;

    @Option(
            names = "--no-compare",
            description = "Leave out the comparison of ways of output, which comes first.")
    private boolean isNotCompared;

    @Option(
            names = "--no-kill",
            description = "Leave the receiver alive. Default: it is killed halfway, kill -9.")
    private boolean isNotKilling;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "TCP port of the receiver, on the loopback address. Default: a free one.")
    private int port;

    @Option(
            names = "--restart",
            paramLabel = "PATH",
            description =
                    "Continue a run: a restart file (its step), or a folder of them (the last"
                            + " complete step).")
    private Path restart;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "Longest time one process waits for another, 5 to 3600. Default: 60.")
    private int timeout = 60;

    @Override
    public Integer call() throws Exception {
        PicDeck deck = deck();
        inRange("--servers", servers, 1, 16);
        inRange("--timeout", timeout, 5, 3600);
        inRange("--port", port, 0, 65535);
        String scheme = transport.require(spec);
        long firstStep = 0;
        if (restart != null) {
            firstStep = RestartNames.stepToContinue(restart, deck.processCount());
            if (firstStep >= deck.stepCount()) {
                throw new Messages.Failure(
                        "%s is at step %s, and the run is to end at step %s: ask for "
                                + "more with --steps",
                        restart, firstStep, deck.stepCount());
            }
        }
        DemoPlan plan =
                new DemoPlan(
                        deck,
                        scheme,
                        servers,
                        restartFolder(),
                        firstStep,
                        OutputFolder.prepareOrNext(output, OUTPUT),
                        timeout,
                        port,
                        !isNotCompared,
                        !isNotKilling,
                        DemoPlan.SharedMemory.of(
                                deck, servers, CountersFile.defaultShmDirectory()));
        requireSpace(plan);
        PrintWriter out = out();
        return new DemoRun(plan, out).run() ? 0 : 1;
    }

    private PicDeck deck() {
        List<String> changes = new ArrayList<>();
        if (ranks != null) {
            inRange("--ranks", ranks, 1, 64);
            changes.add("processes = " + ranks);
        }
        if (steps != null) {
            inRange("--steps", steps, 1, 1_000_000);
            changes.add("steps = " + steps);
        }
        if (isUnbuffered && isBuffered) {
            throw wrong("--buffered and --unbuffered exclude each other");
        }
        if (isUnbuffered || isBuffered) {
            changes.add("restart.mode = " + (isBuffered ? "buffered" : "unbuffered"));
        }
        try {
            return PicDeck.read(deckPath(), changes);
        } catch (DeckException e) {
            throw wrong(e.getMessage());
        }
    }

    private Path deckPath() {
        if (deckFile != null) {
            return deckFile;
        }
        Path inSources = Path.of("examples", "two-stream.conf");
        String home = System.getProperty("verbena.home");
        return home == null ? inSources : Path.of(home).resolve(inSources);
    }

    private Path restartFolder() {
        if (restart == null) {
            return null;
        }
        Path path = restart.toAbsolutePath().normalize();
        return Files.isDirectory(path) ? path : path.getParent();
    }

    private static void requireSpace(DemoPlan plan) {
        long compared = plan.isCompared() ? PicProgram.COMPARED_FILES_MAX : 0;
        // What service processes spill is deleted when the receiver has stored it.
        long files = plan.fileCount() + compared * plan.deck().processCount();
        long length = plan.deck().restartLength() + plan.historyLength();
        long needed = files * length + (64L << 20);
        long usable = plan.output().toFile().getUsableSpace();
        if (usable < needed) {
            throw new Messages.Failure(
                    String.format(
                            "the run writes %d files, %.1f GB in all, and %s has only %.1f GB free;"
                                    + " use --output on another disk, fewer --steps, --no-compare,"
                                    + " or a smaller restart.size in the deck",
                            files, needed / 1e9, plan.output(), usable / 1e9));
        }
    }
}
