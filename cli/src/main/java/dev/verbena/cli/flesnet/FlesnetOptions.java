package dev.verbena.cli.flesnet;

import dev.verbena.agent.Environment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.flesnet.DescriptorMode;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.InputLossPolicy;
import dev.verbena.flesnet.RingEndPolicy;
import dev.verbena.flesnet.dfs.DfsParameters;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What all processes of a run must be started with alike. */
final class FlesnetOptions {
    private static final long CLOSE_NS = 10_000_000_000L;

    @Option(
            names = "--inputs",
            paramLabel = "N",
            defaultValue = "2",
            description = "Input nodes; default ${DEFAULT-VALUE}.")
    int inputs;

    @Option(
            names = "--computes",
            paramLabel = "N",
            defaultValue = "2",
            description = "Compute nodes; default ${DEFAULT-VALUE}.")
    int computes;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            defaultValue = "shm",
            description = "Transport; default ${DEFAULT-VALUE}.")
    String transport;

    @Option(
            names = "--timeslice",
            paramLabel = "N",
            defaultValue = "100",
            description = "Microslices of a timeslice; default ${DEFAULT-VALUE}.")
    int timeslice;

    @Option(
            names = "--overlap",
            paramLabel = "N",
            defaultValue = "1",
            description = "Microslices beyond a timeslice; default ${DEFAULT-VALUE}.")
    int overlap;

    @Option(
            names = "--ring",
            paramLabel = "EXPONENT",
            defaultValue = "20",
            description = "2^EXPONENT bytes of ring for each connection; default ${DEFAULT-VALUE}.")
    int ring;

    @Option(
            names = "--descriptors",
            paramLabel = "EXPONENT",
            defaultValue = "6",
            description = "2^EXPONENT components in a ring; default ${DEFAULT-VALUE}.")
    int descriptors;

    @Option(names = "--split", description = "Split components at the end of a ring.")
    boolean isSplit;

    @Option(names = "--in-sync", description = "Send descriptors inside SYNC messages.")
    boolean isInSync;

    @Option(names = "--shrink", description = "Go on when an input is lost.")
    boolean isShrinking;

    @Option(
            names = "--dfs",
            paramLabel = "TIMESLICES",
            description = "Schedule sends, in intervals of so many timeslices; the paper: 10000.")
    Integer dfs;

    @Option(
            names = "--schedulers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Compute nodes that schedule; default ${DEFAULT-VALUE}.")
    int schedulers;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * In a process of {@code flesnet run}, called first. When that has ended, this one closes what
     * it opened, as after a signal; it ends even if something hinders that.
     */
    static void endWithParent() {
        ChildProcess.endWithParent(
                () -> {
                    LockSupport.parkNanos(CLOSE_NS);
                    Runtime.getRuntime().halt(1);
                });
    }

    /**
     * Refuses values before a process or a thread is started with them.
     *
     * @throws ParameterException naming the option
     * @throws Messages.Failure if the transport cannot work here
     */
    void check() {
        CliCommand.inRange(command, "--inputs", inputs, 1, 16_380);
        CliCommand.inRange(command, "--computes", computes, 1, 4_096);
        CliCommand.inRange(command, "--timeslice", timeslice, 1, 1 << 20);
        CliCommand.inRange(command, "--overlap", overlap, 0, 1 << 20);
        CliCommand.inRange(command, "--ring", ring, 4, 30);
        CliCommand.inRange(command, "--descriptors", descriptors, 0, 20);
        CliCommand.inRange(command, "--schedulers", schedulers, 0, computes);
        CliCommand.inRange(command, "--dfs", dfs, 1, 1 << 30);
        TransportOption.require(command, transport);
    }

    /** As {@link #check()}, of one node among so many. */
    void check(int index, int nodes, Path directory) {
        check();
        CliCommand.inRange(command, "INDEX", index, 0, nodes - 1);
        if (!Files.isDirectory(directory)) {
            throw new Messages.WrongPath("%s is no folder; it must be there before", directory);
        }
    }

    /** Settings of the library. */
    FlesnetContext context(Environment environment, Path directory, String job) {
        FlesnetContext context =
                new FlesnetContext()
                        .environment(environment)
                        .directory(directory.toString())
                        .job(job)
                        .scheme(transport)
                        .nodes(inputs, computes)
                        .timeslice(timeslice, overlap)
                        .rings(ring, descriptors)
                        .ringEnd(isSplit ? RingEndPolicy.SPLIT : RingEndPolicy.SKIP)
                        .descriptorMode(
                                isInSync ? DescriptorMode.IN_SYNC : DescriptorMode.RDMA_WRITE)
                        .inputLoss(isShrinking ? InputLossPolicy.SHRINK : InputLossPolicy.FREEZE);
        return dfs == null
                ? context
                : context.dfs(
                        DfsParameters.PAPER.intervals(dfs, DfsParameters.PAPER.history()),
                        schedulers);
    }
}
