package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.InputStatistics;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flesnet input}. */
@Command(
        name = "input",
        description = "One input node: generates microslices and writes them to compute nodes.",
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

    @Option(
            names = "--monitor",
            paramLabel = "SINK",
            description =
                    "A point each second, in InfluxDB's line protocol, to a file,"
                            + " influx1:HOST:PORT:DATABASE or http://...")
    private String monitor;

    @Mixin private FlesnetOptions options;

    @Mixin private PatternOptions pattern;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(job)
                                .application("flesnet input " + index)
                                .errorHandler(Messages.to(err()))
                                .build();
                InfluxLines lines = new InfluxLines(monitor, environment.errorHandler());
                FlesnetInput input =
                        FlesnetInput.launch(
                                options.context(environment, directory, job),
                                index,
                                pattern.source(index, options))) {
            while (!termination.await(REPORT_MS) && !input.isDone() && input.failure() == null) {
                report(input.statistics());
                lines.write(index, input.statistics());
            }
            report(input.statistics());
            if (input.failure() != null) {
                throw new Messages.Failure(Messages.of(input.failure()));
            }
            say(line(input.statistics()));
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
