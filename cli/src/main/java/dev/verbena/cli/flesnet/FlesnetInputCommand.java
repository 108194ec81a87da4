package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputStatistics;
import dev.verbena.flesnet.MicrosliceSource;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flesnet input}. */
@Command(
        name = "input",
        description = "One input node: writes microslices to compute nodes.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class FlesnetInputCommand extends CliCommand {
    private static final long REPORT_MS = 200;

    @Parameters(paramLabel = "INDEX", description = "Number of the node, from 0.")
    private int index;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            required = true,
            description = "Folder in which compute nodes publish their addresses.")
    private Path directory;

    @Option(names = "--job", paramLabel = "NAME", defaultValue = "flesnet", description = "Job.")
    private String job;

    @Mixin private MonitorOption monitor;

    @Mixin private FlesnetOptions options;

    @Mixin private SourceOptions sources;

    @Override
    public Integer call() throws Exception {
        FlesnetOptions.endWithParent();
        options.check(index, options.inputs, directory);
        sources.check();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(job)
                                .application("flesnet input " + index)
                                .errorHandler(Messages.to(err()))
                                .build();
                InfluxLines lines = monitor.open(environment.errorHandler())) {
            MicrosliceSource source = sources.open(index, options, environment);
            try {
                return send(termination, environment, lines, source);
            } finally {
                // The engine, which takes microslices from it, has ended.
                if (source instanceof AutoCloseable opened) {
                    opened.close();
                }
            }
        }
    }

    private int send(
            Termination termination,
            RealEnvironment environment,
            InfluxLines lines,
            MicrosliceSource source)
            throws InterruptedException {
        try (FlesnetInput input =
                FlesnetInput.launch(options.context(environment, directory, job), index, source)) {
            while (!termination.await(REPORT_MS) && !input.isDone() && input.failure() == null) {
                report(input.statistics());
                lines.write(index, input.statistics());
            }
            report(input.statistics());
            if (input.failure() != null) {
                throw new Messages.Failure(Messages.of(input.failure()));
            }
            say(line(input.statistics()) + SourceOptions.seen(source));
            return input.isDone() ? 0 : 1;
        }
    }

    private void report(InputStatistics statistics) {
        ChildProcess.sendToParent(
                "input %s %s %s"
                        .formatted(index, statistics.timeslices(), statistics.payloadBytes()));
    }

    private String line(InputStatistics statistics) {
        return ("input %s: %s timeslices, %.1f MB, %s microslices dropped; waited %s ms for data,"
                        + " %s for writes, %s for tickets")
                .formatted(
                        index,
                        statistics.timeslices(),
                        statistics.payloadBytes() / 1e6,
                        statistics.droppedMicroslices(),
                        statistics.inputBlockedNs() / 1_000_000,
                        statistics.writeBlockedNs() / 1_000_000,
                        statistics.creditBlockedNs() / 1_000_000);
    }
}
