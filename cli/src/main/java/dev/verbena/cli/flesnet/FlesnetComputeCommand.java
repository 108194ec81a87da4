package dev.verbena.cli.flesnet;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.ComputeStatistics;
import dev.verbena.flesnet.FlesnetCompute;
import dev.verbena.flesnet.TimesliceHandler;
import dev.verbena.flesnet.consume.ConsumerBroker;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code flesnet compute}. */
@Command(
        name = "compute",
        description = "One compute node: builds timeslices and checks their contents.",
        sortOptions = false)
public final class FlesnetComputeCommand extends FlesnetNodeCommand {
    private static final long LOOK_MS = 10;

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
            names = "--consumers",
            paramLabel = "SEGMENT",
            description =
                    "Give timeslices to consumers in other processes (flesnet consume SEGMENT)"
                            + " instead of checking them here; a file that is made, best below"
                            + " /dev/shm.")
    private Path segment;

    @Option(
            names = "--consumers-min",
            paramLabel = "N",
            defaultValue = "1",
            description = "Wait until so many have registered; default ${DEFAULT-VALUE}.")
    private int consumersMin;

    @Option(
            names = "--consumers-items",
            paramLabel = "N",
            defaultValue = "16",
            description = "Timeslices in the hands of consumers; default ${DEFAULT-VALUE}.")
    private int consumersItems;

    private AgentThread consumers;

    @Override
    public Integer call() throws Exception {
        begin(options.computes);
        inRange("--consumers-min", consumersMin, 0, 16);
        inRange("--consumers-items", consumersItems, 2, 4096);
        if (segment != null && archive != null) {
            throw wrong("--archive is an option of the consumer when there is --consumers");
        }
        if (isCompressed && archive == null) {
            throw wrong("--zstd needs --archive");
        }
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment = environment();
                TimesliceChecker checker = new TimesliceChecker(options.timeslice, isUnchecked)) {
            if (archive != null) {
                checker.archive(archive, isCompressed, Instant.now().getEpochSecond());
            }
            if (segment != null) {
                return distribute(termination, environment, checker);
            }
            int code = build(termination, environment, checker, checker);
            say(
                    "compute %s: %s timeslices, %s damaged"
                            .formatted(index, checker.count(), checker.damagedCount()));
            return checker.damagedCount() == 0 ? code : 1;
        }
    }

    private int distribute(
            Termination termination, RealEnvironment environment, TimesliceChecker checker)
            throws InterruptedException, IOException {
        ConsumerBroker broker =
                new ConsumerBroker(context(environment), segment, consumersItems, consumersMin);
        try (AgentThread thread =
                AgentThread.builder("flesnet-consumers-" + index, environment)
                        .sleepMaxNs(1_000_000)
                        .agent(broker)
                        .start()) {
            consumers = thread;
            int code = build(termination, environment, checker, broker);
            if (code == 0) {
                broker.finish();
            }
            while (code == 0 && !broker.isFinished() && !termination.await(LOOK_MS)) {
                requireConsumers();
            }
            say(
                    "compute %s: %s timeslices handed out, %s wanted by no consumer"
                            .formatted(index, broker.handedCount(), broker.unwantedCount()));
            return broker.isFinished() ? code : 1;
        }
    }

    private void requireConsumers() {
        if (consumers != null && !consumers.isAlive()) {
            throw new Messages.Failure("the thread that serves consumers has ended");
        }
    }

    private int build(
            Termination termination,
            RealEnvironment environment,
            TimesliceChecker checker,
            TimesliceHandler handler)
            throws InterruptedException, IOException {
        try (InfluxLines lines = openMonitor(environment.errorHandler());
                FlesnetCompute compute =
                        FlesnetCompute.launch(context(environment), index, handler)) {
            try {
                while (!termination.await(REPORT_MS)
                        && isRunning(compute)
                        && checker.failure() == null) {
                    requireConsumers();
                    report(compute.statistics());
                    lines.write(index, compute.statistics());
                }
            } finally {
                if (consumers != null && !compute.isDone()) {
                    // Its broker may be copying out of memory that goes with the compute node.
                    consumers.close();
                }
            }
            report(compute.statistics());
            requireNoFailure(compute);
            if (checker.failure() != null) {
                throw checker.failure();
            }
            return compute.isDone() ? 0 : 1;
        }
    }

    private void report(ComputeStatistics statistics) {
        tellParent(statistics.timeslices(), statistics.bytes());
    }
}
