package dev.verbena.cli.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetNode;
import java.io.IOException;
import java.net.MalformedURLException;
import java.nio.file.Path;
import org.agrona.ErrorHandler;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** One node of a run. */
abstract class FlesnetNodeCommand extends CliCommand {
    static final long REPORT_MS = 200;

    @Parameters(paramLabel = "INDEX", description = "Number of the node, from 0.")
    int index;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            required = true,
            description = "Folder in which compute nodes publish their addresses.")
    private Path directory;

    @Option(names = "--job", paramLabel = "NAME", defaultValue = "flesnet", description = "Job.")
    private String job;

    @Option(
            names = "--monitor",
            paramLabel = "SINK",
            description =
                    "A point each second, in InfluxDB's line protocol, to a file,"
                            + " influx1:HOST:PORT:DATABASE or http://...")
    private String monitor;

    @Mixin FlesnetOptions options;

    /** Called first, as one of so many nodes. */
    final void begin(int nodes) {
        FlesnetOptions.endWithParent();
        options.check(index, nodes, directory);
    }

    /** Where it runs; closed by the caller. */
    final RealEnvironment environment() {
        return RealEnvironment.builder()
                .job(job)
                .application("flesnet " + spec.name() + " " + index)
                .errorHandler(Messages.to(err()))
                .build();
    }

    /**
     * Opens the sink of the node's points.
     *
     * @throws ParameterException for what is no sink
     * @throws IOException if a file cannot be written
     */
    final InfluxLines openMonitor(ErrorHandler errors) throws IOException {
        try {
            return new InfluxLines(monitor, errors);
        } catch (IllegalArgumentException | MalformedURLException e) {
            throw wrong("--monitor %s", e.getMessage());
        }
    }

    final FlesnetContext context(Environment environment) {
        return options.context(environment, directory, job);
    }

    static boolean isRunning(FlesnetNode node) {
        return !node.isDone() && node.failure() == null;
    }

    static void requireNoFailure(FlesnetNode node) {
        if (node.failure() != null) {
            throw new Messages.Failure(Messages.of(node.failure()));
        }
    }

    /** Tells a command that has started this one how far the node is. */
    final void tellParent(long timeslices, long bytes) {
        ChildProcess.sendToParent("%s %s %s %s".formatted(spec.name(), index, timeslices, bytes));
    }
}
