package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.flesnet.FlesnetCompute;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flesnet compute}. */
@Command(
        name = "compute",
        description = "One compute node: builds timeslices and checks their contents.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class FlesnetComputeCommand extends CliCommand {
    private static final long REPORT_MS = 200;

    @Parameters(paramLabel = "INDEX", description = "Number of the node, from 0.")
    private int index;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            required = true,
            description = "Folder in which this node publishes its address.")
    private Path directory;

    @Option(names = "--job", paramLabel = "NAME", defaultValue = "flesnet", description = "Job.")
    private String job;

    @Option(
            names = "--archive",
            paramLabel = "FILE",
            description = "Write all timeslices to this .tsa file.")
    private Path archive;

    @Option(names = "--zstd", description = "Compress the archive.")
    private boolean isCompressed;

    @Option(names = "--unchecked", description = "Do not look at the contents.")
    private boolean isUnchecked;

    @Option(
            names = "--monitor",
            paramLabel = "FILE",
            description = "Append a point each second, in InfluxDB's line protocol.")
    private Path monitor;

    @Mixin private FlesnetOptions options;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(job)
                                .application("flesnet compute " + index)
                                .errorHandler(Messages.to(err()))
                                .build();
                TimesliceChecker checker = new TimesliceChecker(options, isUnchecked)) {
            if (archive != null) {
                checker.archive(
                        new BufferedOutputStream(Files.newOutputStream(archive)),
                        isCompressed,
                        Instant.now().getEpochSecond());
            }
            int code = build(termination, environment, checker);
            say(
                    "compute %s: %s timeslices, %s damaged"
                            .formatted(index, checker.count(), checker.damagedCount()));
            return checker.damagedCount() == 0 ? code : 1;
        }
    }

    private int build(
            Termination termination, RealEnvironment environment, TimesliceChecker checker)
            throws InterruptedException, IOException {
        try (InfluxLines lines = new InfluxLines(monitor);
                FlesnetCompute compute =
                        FlesnetCompute.launch(
                                options.context(environment, directory, job), index, checker)) {
            while (!termination.await(REPORT_MS)
                    && !compute.isDone()
                    && compute.failure() == null
                    && checker.failure() == null) {
                report(compute.statistics());
                lines.write(index, compute.statistics());
            }
            report(compute.statistics());
            if (compute.failure() != null) {
                throw new Messages.Failure(Messages.of(compute.failure()));
            }
            if (checker.failure() != null) {
                throw checker.failure();
            }
            return compute.isDone() ? 0 : 1;
        }
    }

    private void report(ComputeStatistics statistics) {
        ChildProcess.sendToParent(
                "compute %s %s %s".formatted(index, statistics.timeslices(), statistics.bytes()));
    }
}
