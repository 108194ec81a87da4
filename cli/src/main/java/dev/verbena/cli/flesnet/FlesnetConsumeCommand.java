package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.consume.ConsumerWish;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Locale;
import org.agrona.concurrent.NanoClock;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code flesnet consume}. */
@Command(
        name = "consume",
        description = "A consumer: takes timeslices of a compute node and checks their contents.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class FlesnetConsumeCommand extends CliCommand {
    private static final long LOOK_MS = 20;

    @Parameters(
            paramLabel = "SEGMENT",
            description = "What the compute node was given as --consumers.")
    private Path segment;

    @Option(
            names = "--stride",
            paramLabel = "N",
            defaultValue = "1",
            description = "Take each N-th timeslice; default ${DEFAULT-VALUE}.")
    private long stride;

    @Option(
            names = "--offset",
            paramLabel = "N",
            defaultValue = "0",
            description = "Number of the first; default ${DEFAULT-VALUE}.")
    private long offset;

    @Option(
            names = "--queue",
            paramLabel = "POLICY",
            defaultValue = "all",
            description =
                    "all (they wait), one (the newest is kept) or skip; default ${DEFAULT-VALUE}.")
    private String queue;

    @Option(
            names = "--group",
            paramLabel = "NAME",
            defaultValue = "",
            description = "One member of a group gets a timeslice.")
    private String group;

    @Option(
            names = "--timeslice",
            paramLabel = "N",
            defaultValue = "100",
            description = "Microslices of a timeslice, for archives; default ${DEFAULT-VALUE}.")
    private int timeslice;

    @Option(
            names = "--archive",
            paramLabel = "FILE",
            description = "Write all timeslices to this .tsa file.")
    private Path archive;

    @Option(names = "--zstd", description = "Compress the archive.")
    private boolean isCompressed;

    @Option(names = "--unchecked", description = "Do not look at the contents.")
    private boolean isUnchecked;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        ConsumerWish wish = wish();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("flesnet consume")
                                .errorHandler(Messages.to(err()))
                                .build();
                TimesliceChecker checker = new TimesliceChecker(timeslice, isUnchecked)) {
            if (archive != null) {
                checker.archive(
                        new BufferedOutputStream(Files.newOutputStream(archive)),
                        isCompressed,
                        Instant.now().getEpochSecond());
            }
            while (!Files.exists(segment)) {
                if (termination.await(LOOK_MS)) {
                    return 1;
                }
            }
            boolean isWhole = consume(termination, environment.nanoClock(), wish, checker);
            say(
                    "consumer: %s timeslices, %s damaged"
                            .formatted(checker.count(), checker.damagedCount()));
            return isWhole && checker.damagedCount() == 0 ? 0 : 1;
        }
    }

    private ConsumerWish wish() {
        try {
            QueuePolicy policy = QueuePolicy.valueOf(queue.toUpperCase(Locale.ROOT));
            String name = "pid " + ProcessHandle.current().pid();
            return new ConsumerWish(stride, offset, policy, group, name);
        } catch (IllegalArgumentException e) {
            throw wrong(
                    "'%s' with --stride %s --offset %s: %s", queue, stride, offset, e.getMessage());
        }
    }

    private boolean consume(
            Termination termination, NanoClock clock, ConsumerWish wish, TimesliceChecker checker)
            throws InterruptedException, IOException {
        try (TimesliceConsumer consumer = TimesliceConsumer.register(clock, segment, wish)) {
            while (!consumer.isDone()) {
                Timeslice next = consumer.poll();
                if (next != null) {
                    checker.onTimeslice(next);
                } else if (termination.await(1)) {
                    return false;
                }
                if (checker.failure() != null) {
                    throw checker.failure();
                }
            }
            return true;
        }
    }
}
