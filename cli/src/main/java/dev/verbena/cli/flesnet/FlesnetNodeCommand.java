package dev.verbena.cli.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetNode;
import java.nio.file.Path;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
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

    @Mixin MonitorOption monitor;
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
