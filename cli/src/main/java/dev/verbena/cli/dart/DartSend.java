package dev.verbena.cli.dart;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code dart send}: ordinary files and folders, again if need be until all are confirmed. */
@Command(
        name = "send",
        description = {
            "Send files, and folders with everything in them, through the servers to the receiver.",
            "Every file is checksummed; the command ends when the receiver has confirmed all of"
                    + " them,",
            "or when a server with --spill has them on its disk.",
            "A lost server or receiver is waited for; what was not confirmed is sent again."
        },
        sortOptions = false)
public final class DartSend extends CliCommand {
    private static final long RETRY_MS = 300;
    private static final long CLOSE_NS = 1_000_000_000L;

    @Mixin private ServiceOptions service;

    @Option(
            names = "--rank",
            paramLabel = "N",
            description = "Number of this sender among those of the job. Default: 0.")
    private int rank;

    @Parameters(
            paramLabel = "PATH",
            arity = "1..*",
            description = "Files and folders, each with a name of its own.")
    private List<Path> paths;

    private final List<String> faults = new ArrayList<>();
    private SendQueue queue;

    @Override
    public Integer call() throws Exception {
        service.check();
        if (rank < 0) {
            throw wrong("--rank " + rank + " is below 0");
        }
        PrintWriter out = out();
        List<SendQueue.Item> items = new SendItems(faults::add).collect(paths);
        if (!Files.exists(service.configuration()) && items.isEmpty()) {
            throw new Messages.Failure("nothing to send");
        }
        String scheme = service.scheme();
        long begin = System.nanoTime();
        try (Termination termination = new Termination(service.timeoutMs() + 5000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("dart send")
                                .errorHandler(Messages.to(err()))
                                .build()) {
            queue = new SendQueue(items, faults::add, termination::isAsked);
            ProgressLine line = new ProgressLine(out);
            sendAll(environment, scheme, line, termination);
            line.end();
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        double megabytes = queue.byteCount() / 1e6;
        out.printf(
                "%d files and folders, %.1f MB, confirmed by the receiver in %.2f s (%.0f MB/s)%n",
                queue.confirmedCount(), megabytes, seconds, megabytes / seconds);
        if (queue.spilledCount() > 0) {
            out.printf(
                    "%d of them are on the disk of a server, which delivers them when the receiver"
                            + " is back%n",
                    queue.spilledCount());
        }
        out.flush();
        for (String fault : faults) {
            err().println("verbena dart send: " + fault);
        }
        return faults.isEmpty() ? 0 : 1;
    }

    /** Begins again what was not confirmed when a server is lost, as long as something goes on. */
    private void sendAll(
            RealEnvironment environment, String scheme, ProgressLine line, Termination termination)
            throws InterruptedException {
        long timeoutNs = service.timeoutNs();
        long confirmedNs = System.nanoTime();
        int confirmed = 0;
        String said = "";
        while (true) {
            DartException failure;
            try (DartClient client = connect(environment, scheme, timeoutNs)) {
                queue.send(client, rank, timeoutNs, line);
                return;
            } catch (DartException e) {
                failure = e;
            }
            if (queue.isFinished()) {
                return;
            }
            long now = System.nanoTime();
            if (queue.confirmedCount() > confirmed) {
                confirmed = queue.confirmedCount();
                confirmedNs = now;
            }
            boolean isLate = now - confirmedNs > timeoutNs;
            if (isLate || termination.isAsked() || !isWorthAnother(failure)) {
                boolean isMasterThere = Files.exists(service.configuration());
                throw new Messages.Failure(
                        "%s; not confirmed: %s%s",
                        failure.getMessage(),
                        queue.unconfirmed(),
                        isMasterThere ? "" : ". Is a master running with this --config?");
            }
            if (!failure.getMessage().equals(said)) {
                said = failure.getMessage();
                err().println(
                                ("verbena dart send: %s; connecting again, %s "
                                                + "will be sent again")
                                        .formatted(said, queue.unconfirmed()));
            }
            TimeUnit.MILLISECONDS.sleep(RETRY_MS);
        }
    }

    /** Whether time may mend it. */
    private static boolean isWorthAnother(DartException e) {
        return switch (e.code()) {
            case SERVER_UNREACHABLE,
                    SERVER_STOPPING,
                    RECEIVER_UNREACHABLE,
                    TRANSFER_FAILED,
                    HEADER_LOST,
                    UNCONFIRMED ->
                    true;
            default -> false;
        };
    }

    private DartClient connect(RealEnvironment environment, String scheme, long timeoutNs) {
        return DartClient.connect(
                new DartClient.Context()
                        .environment(environment)
                        .configurationFile(service.configuration().toString())
                        .transport(scheme)
                        .rank(rank)
                        .maxInFlight(2)
                        .bootTimeoutNs(timeoutNs)
                        .closeTimeoutNs(CLOSE_NS)
                        .checksum(true));
    }
}
