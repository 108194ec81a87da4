package dev.verbena.cli.dart;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.report.PicturedSink;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.SinkOption;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.dart.DartReceiver;
import dev.verbena.dart.DartStepContext;
import dev.verbena.dart.ReceiverStatistics;
import dev.verbena.dart.SinkStatistics;
import dev.verbena.staging.sink.Sink;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.CloseHelper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code dart receive}. */
@Command(
        name = "receive",
        description = {
            "Receive what servers stream, and store every message as a file, forced to disk before it"
                    + " is confirmed. Files sent by 'dart send' get their folders back.",
            "With --sink the messages go there, and are confirmed when it has them; what it refuses"
                    + " stays a file.",
            "Ends at Ctrl-C or a TERM signal, or after --servers have finished."
        },
        sortOptions = false)
public final class DartReceive extends CliCommand {
    private static final long LOOK_AGAIN_MS = 200;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT|URI",
            required = true,
            converter = ReceiverAddress.Converter.class,
            description = {
                "Address to listen on; port 0: any, which is printed. By TCP, or with a transport:",
                "shm://JOB/NAME, ofi://HOST:PORT?provider=tcp, verbs://HOST:PORT/JOB/NAME, ..."
            })
    private ReceiverAddress address;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            required = true,
            description = "Folder for what arrives; made if absent.")
    private Path directory;

    @Option(
            names = "--servers",
            paramLabel = "N",
            description = "End after this many servers have finished. Default: go on.")
    private Integer servers;

    @Option(
            names = "--accept-gaps",
            description = {
                "Go on although servers have given away data that this folder does not have,",
                "because an earlier receiver stored them elsewhere; what is lost is reported."
            })
    private boolean isAcceptingGaps;

    @Option(
            names = "--replace",
            description = {
                "Let what arrives replace files of the same name in DIR. Without it a file with",
                "other bytes stays, and the new one is stored beside it as NAME.1, and so on."
            })
    private boolean isReplacing;

    @Mixin private SecretOption secret;

    @Mixin private SinkOption sink;

    @Option(
            names = "--whole-steps",
            description = {
                "Hand the messages of a step to the sink together, in one transaction if it has any:",
                "senders say how many ranks there are, and where a rank's step ends."
            })
    private boolean isWholeSteps;

    @Override
    public Integer call() throws Exception {
        check();
        byte[] shared = secret.read();
        Path folder = directory.toAbsolutePath().normalize();
        List<Path> made = OutputFolder.make("--directory", folder);
        PrintWriter out = out();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("dart receiver")
                                .errorHandler(Messages.to(err()))
                                .build()) {
            ReceivedTree tree =
                    new ReceivedTree(
                            folder, text -> print(out, text), termination::isAsked, isReplacing);
            DartReceiver.Context context =
                    address.listen(new DartReceiver.Context().environment(environment))
                            .directory(folder.toString())
                            .acceptGaps(isAcceptingGaps)
                            .replace(isReplacing);
            if (shared != null) {
                context.secret(shared);
            }
            if (isWholeSteps) {
                context.steps(new DartStepContext(step -> {}));
            }
            try (DartReceiver receiver = launch(context, environment, tree, made)) {
                print(out, "listening on " + address.of(receiver));
                ChildProcess.sendToParent("listening " + receiver.port());
                serve(receiver, termination);
                print(out, summary(receiver, tree));
                return isAllStored(receiver, tree) ? 0 : 1;
            }
        }
    }

    private void check() {
        if (servers != null && servers < 1) {
            throw wrong("--servers " + servers + " is less than 1");
        }
        if (isWholeSteps && !sink.isGiven()) {
            throw wrong("--whole-steps needs --sink");
        }
        if (sink.isPictured() && !sink.isGiven()) {
            throw wrong("--pictures needs --sink");
        }
        address.check(spec, "--listen", true);
    }

    /** The sink is opened last, and closed if no receiver comes to own it. */
    private DartReceiver launch(
            DartReceiver.Context context,
            RealEnvironment environment,
            ReceivedTree tree,
            List<Path> made)
            throws IOException {
        Sink target = sink.isGiven() ? sink.open() : null;
        if (target == null) {
            context.handler(tree);
        } else {
            context.sink(sink.isPictured() ? new PicturedSink(target, environment) : target);
        }
        try {
            return DartReceiver.launch(context);
        } catch (RuntimeException e) {
            CloseHelper.quietClose(target);
            OutputFolder.removeEmpty(made);
            throw e;
        }
    }

    /** Until the end is asked for, or all servers have finished. */
    private void serve(DartReceiver receiver, Termination termination) throws InterruptedException {
        long lookNs = TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MS);
        boolean isFinished = false;
        while (!isFinished && !termination.await(servers == null ? LOOK_AGAIN_MS : 0)) {
            if (receiver.failure() != null) {
                throw new Messages.Failure(Messages.of(receiver.failure()));
            }
            isFinished = servers != null && receiver.awaitFinished(servers, lookNs);
        }
    }

    private String summary(DartReceiver receiver, ReceivedTree tree) {
        ReceiverStatistics statistics = receiver.statistics();
        String received =
                String.format(
                        "%d messages, %.1f MB; ",
                        statistics.messageCount(), statistics.payloadBytes() / 1e6);
        if (sink.isGiven()) {
            SinkStatistics its = receiver.sinkStatistics();
            return received
                    + String.format(
                            "%d in the sink, %d refused by it, %d wait",
                            its.deliveredCount(), its.refusedCount(), its.waitingCount());
        }
        return received
                + String.format(
                        "%d files in place, %d damaged",
                        tree.fileCount(), tree.damagedCount() + statistics.corruptCount());
    }

    private boolean isAllStored(DartReceiver receiver, ReceivedTree tree) {
        long refused = sink.isGiven() ? receiver.sinkStatistics().refusedCount() : 0;
        return tree.damagedCount() + receiver.statistics().corruptCount() + refused == 0;
    }

    private static synchronized void print(PrintWriter out, String text) {
        out.println(text);
        out.flush();
    }
}
