package dev.verbena.cli.flesnet;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.flesnet.Timeslice;
import dev.verbena.flesnet.consume.ConsumerWish;
import dev.verbena.flesnet.consume.QueuePolicy;
import dev.verbena.flesnet.consume.TimesliceConsumer;
import java.io.IOException;
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
        sortOptions = false)
public final class FlesnetConsumeCommand extends CliCommand {
    private static final long LOOK_MS = 20;
    private static final int LOOKS_UNSAID = 100;
    private static final int FLUSH_MS = 10_000;

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

    @Option(
            names = "--publish",
            paramLabel = "[HOST:]PORT",
            converter = HostPort.LoopbackConverter.class,
            description = {
                "Send all timeslices to ZeroMQ's subscribers (SUB), each as a .tsa file of one;",
                "without a host on the loopback address."
            })
    private HostPort publish;

    @Option(
            names = "--high-water",
            paramLabel = "N",
            defaultValue = "1",
            description =
                    "So many wait for one subscriber, then it misses some; default"
                            + " ${DEFAULT-VALUE}.")
    private int highWater;

    @Option(names = "--unchecked", description = "Do not look at the contents.")
    private boolean isUnchecked;

    @Override
    public Integer call() throws Exception {
        ChildProcess.endWithParent(() -> Runtime.getRuntime().halt(1));
        ConsumerWish wish = wish();
        inRange("--high-water", highWater, 1, 1_000_000);
        inRange("--timeslice", timeslice, 1, 1 << 20);
        if (isCompressed && archive == null) {
            throw wrong("--zstd needs --archive");
        }
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("flesnet consume")
                                .errorHandler(Messages.to(err()))
                                .build();
                TimesliceChecker checker = new TimesliceChecker(timeslice, isUnchecked);
                TimesliceStream stream = TimesliceStream.open(publish, highWater)) {
            checker.stream(stream);
            if (stream != null) {
                say("publishing: tcp://" + stream.address());
            }
            if (archive != null) {
                checker.archive(archive, isCompressed, Instant.now().getEpochSecond());
            }
            if (!awaitSegment(termination, stream)) {
                return 1;
            }
            boolean isWhole = consume(termination, environment.nanoClock(), wish, checker);
            int waitedMs = 0;
            while (stream != null && isWhole && waitedMs++ < FLUSH_MS && stream.isSending()) {
                isWhole = !termination.await(1);
            }
            say(
                    "consumer: %s timeslices, %s damaged"
                                    .formatted(checker.count(), checker.damagedCount())
                            + (stream == null ? "" : stream.summary()));
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

    /** False if the end is asked for before. */
    private boolean awaitSegment(Termination termination, TimesliceStream stream)
            throws InterruptedException, IOException {
        for (int looks = 1; !TimesliceConsumer.isServed(segment); looks++) {
            if (termination.await(LOOK_MS)) {
                return false;
            }
            serve(stream);
            if (looks == LOOKS_UNSAID) {
                err().println(
                                "verbena flesnet consume: waiting for %s, which flesnet compute makes"
                                                .formatted(segment)
                                        + " that has it as --consumers");
                err().flush();
            }
        }
        return true;
    }

    private void serve(TimesliceStream stream) {
        if (stream != null && stream.doWork()) {
            say("subscribers: " + stream.subscriberCount());
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
                serve(checker.stream());
                if (checker.failure() != null) {
                    throw checker.failure();
                }
            }
            return true;
        }
    }
}
