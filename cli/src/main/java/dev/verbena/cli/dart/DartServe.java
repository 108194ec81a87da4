package dev.verbena.cli.dart;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.SizedFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartServer;
import dev.verbena.dart.ServerStatistics;
import dev.verbena.dart.SpillStatistics;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What {@code dart master} and {@code dart slave} have in common. */
public abstract class DartServe extends CliCommand {
    private static final long LOOK_AGAIN_MS = 200;
    private static final long STOP_NOW_MS = 3000;

    private final CountDownLatch closed = new CountDownLatch(1);
    private final CountDownLatch said = new CountDownLatch(1);
    private volatile boolean isStoppedNow;

    @Mixin ServiceOptions service;

    @Mixin SecretOption secret;

    @Option(
            names = "--clients",
            paramLabel = "N",
            defaultValue = "0",
            description = "Processes expected; sets the number of buffers. Default: unknown.")
    int clients;

    @Option(
            names = "--buffers",
            paramLabel = "N",
            description = "Buffers. Default: three for two processes, at least 3.")
    int buffers;

    @Option(
            names = "--buffer-size",
            paramLabel = "MIB",
            description = "Size of a buffer in MiB, 1 to 1024. Default: 4.")
    int bufferMebibytes = 4;

    @Option(
            names = "--spill",
            paramLabel = "DIR,LIMIT",
            converter = SizedFolder.OfSpill.class,
            description = {
                "Put what the receiver does not take into files of DIR, up to LIMIT bytes"
                        + " (20g, 500m): processes go on without a receiver. What is there at"
                        + " the start is delivered."
            })
    SizedFolder spill;

    @Option(
            names = "--sink",
            paramLabel = "file:DIR",
            description = {
                "Store what comes in DIR on this machine, as dart receive does, instead of"
                        + " streaming it to a receiver. Each server needs a folder of its own."
            })
    String sink;

    /** Folders made for what comes, innermost first: they go if this server never gets ready. */
    private List<Path> made = List.of();

    /** Of {@link #sink}; null without. */
    private ReceivedTree tree;

    /** Adds what only the master, or only a slave, has; null if the end is wished for before. */
    abstract DartServer.Context configure(DartServer.Context context, Termination termination)
            throws IOException;

    /** As the subcommand is called. */
    private String role() {
        return spec.name();
    }

    /** The server has won its file, or is registered. */
    void ready() throws IOException {}

    /** It has ended in order. */
    void ended() throws IOException {}

    /** Files here instead of a receiver elsewhere; what {@code dart send} sent becomes a tree. */
    private void store(DartServer.Context context, Termination termination) throws IOException {
        if (!sink.startsWith("file:") || sink.length() == 5 || spill != null) {
            throw wrong(
                    spill == null
                            ? "--sink " + sink + " is not file:DIR"
                            : "--sink stores on this machine: --spill has no use there");
        }
        Path folder = Path.of(sink.substring(5)).toAbsolutePath().normalize();
        made = OutputFolder.make("--sink", folder);
        tree = new ReceivedTree(folder, this::say, termination::isAsked);
        // A thread that waits for space on the device must not keep others from being served.
        context.dedicatedThreads(true).fileSink(folder.toString(), tree);
    }

    @Override
    public Integer call() throws Exception {
        try {
            return serve();
        } finally {
            OutputFolder.removeEmpty(made);
        }
    }

    @SuppressWarnings("try") // closed before it reports
    private int serve() throws Exception {
        inRange("--clients", clients, 0, 8192);
        inRange("--buffers", buffers, 0, 65536);
        inRange("--buffer-size", bufferMebibytes, 1, 1024);
        service.check();
        byte[] shared = secret.read();
        String scheme = service.scheme();
        long timeoutNs = service.timeoutNs();
        try (Termination termination = new Termination(service.timeoutMs() + 5000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("dart " + role())
                                .errorHandler(Messages.to(err()))
                                .build()) {
            DartServer.Context context =
                    new DartServer.Context()
                            .environment(environment)
                            .configurationFile(service.configuration().toString())
                            .transport(scheme)
                            .clientCount(clients)
                            .bufferCount(buffers)
                            .bufferSize(bufferMebibytes << 20)
                            .bootTimeoutNs(timeoutNs)
                            .peerTimeoutNs(timeoutNs)
                            .stoppableByClients(true)
                            .closeTimeoutNs(timeoutNs);
            if (shared != null) {
                context.secret(shared);
            }
            if (spill != null) {
                Path folder = spill.directory().toAbsolutePath();
                made = OutputFolder.make("--spill", folder);
                context.spill(folder.toString(), spill.size());
            }
            if (sink != null) {
                store(context, termination);
            }
            if (configure(context, termination) == null) {
                return 0;
            }
            try (DartServer server = DartServer.launch(context)) {
                if (!isReady(server, termination, timeoutNs + TimeUnit.SECONDS.toNanos(5))) {
                    return 0;
                }
                made = List.of();
                ready();
                say(role() + " ready as server " + server.serverId() + ": " + server.uri());
                ChildProcess.sendToParent("ready " + server.serverId());
                termination.lastWords(() -> stopNow(server));
                awaitEnd(server, termination);
                sayWhatIsAwaited(server.statistics(), timeoutNs);
                server.close();
                closed.countDown();
                ended();
                if (isStoppedNow) {
                    said.await();
                    return 1;
                }
                report(server.statistics());
                report(server.spill());
                reportLost(server);
                if (server.failure() != null) {
                    throw new Messages.Failure(Messages.of(server.failure()));
                }
                return server.lostMessages().isEmpty() && !isAnyRefused() ? 0 : 1;
            }
        }
    }

    /** Files that are stored here, but not in their place. */
    private boolean isAnyRefused() {
        if (tree == null || tree.damagedCount() == 0) {
            return false;
        }
        say(tree.damagedCount() + " files were refused, see above");
        return true;
    }

    /** Waits until the end is asked for, or the server has ended by itself. */
    private static void awaitEnd(DartServer server, Termination termination)
            throws InterruptedException {
        while (!termination.await(LOOK_AGAIN_MS) && !server.awaitStopped(0)) {
            if (server.failure() != null) {
                throw new Messages.Failure(Messages.of(server.failure()));
            }
        }
    }

    /** Waits until it is; false if the end is wished for before. */
    private static boolean isReady(DartServer server, Termination termination, long timeoutNs)
            throws InterruptedException {
        long begin = System.nanoTime();
        while (!termination.isAsked()) {
            try {
                server.awaitReady(TimeUnit.MILLISECONDS.toNanos(LOOK_AGAIN_MS));
                return true;
            } catch (DartException e) {
                boolean isLate = System.nanoTime() - begin > timeoutNs;
                if (e.code() != DartException.Code.TIMEOUT || isLate) {
                    throw e;
                }
            }
        }
        return false;
    }

    /** The receiver has to take what is left before the server can end. */
    private void sayWhatIsAwaited(ServerStatistics statistics, long timeoutNs) {
        int held = statistics.pendingCount() + statistics.fullCount() + statistics.streamingCount();
        if (held > 0) {
            say(
                    "%s waits up to %s s for the receiver: %s buffers hold data that it has not"
                            + " confirmed. A second Ctrl-C ends at once and names what is lost",
                    role(), TimeUnit.NANOSECONDS.toSeconds(timeoutNs), held);
        }
    }

    /** A second signal: ends without the receiver, and names what is lost by that. */
    private void stopNow(DartServer server) {
        isStoppedNow = true;
        server.stopNow();
        try {
            if (!closed.await(STOP_NOW_MS, TimeUnit.MILLISECONDS)) {
                say(role() + " could not end in order");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        report(server.statistics());
        report(server.spill());
        reportLost(server);
        said.countDown();
    }

    private void reportLost(DartServer server) {
        for (DartServer.LostMessage lost : server.lostMessages()) {
            say("lost: " + lost);
        }
    }

    private void report(ServerStatistics statistics) {
        say(
                "%s stopped: %d messages pulled (%.1f MB), %d confirmed by the receiver, %d"
                        + " failed, %d processes lost",
                role(),
                statistics.transferredCount(),
                statistics.pulledBytes() / 1e6,
                statistics.streamedCount(),
                statistics.failedCount(),
                statistics.lostClientCount());
    }

    private void report(SpillStatistics spilled) {
        if (spilled.writtenBytes() > 0 || spilled.bytes() > 0 || spilled.replayedCount() > 0) {
            say(
                    "spill: %.1f MB written, %d messages delivered from files, %d messages"
                            + " remain in %d files (%.1f MB)%s",
                    spilled.writtenBytes() / 1e6,
                    spilled.replayedCount(),
                    spilled.messageCount(),
                    spilled.fileCount(),
                    spilled.bytes() / 1e6,
                    spilled.messageCount() > 0
                            ? "; start a server with the same --spill to deliver them"
                            : "");
        }
    }

    /** Where a slave finds the receiver that the master was given. */
    Path receiverFile() {
        Path file = service.configuration();
        return file.resolveSibling(file.getFileName() + ".receiver");
    }

    /** {@code dart master}. */
    @Command(
            name = "master",
            description =
                    "Run the master server: publishes the configuration file, serves"
                            + " processes and shares them out to slaves. Ends, after everything has been"
                            + " passed on, at Ctrl-C or a TERM signal.",
            sortOptions = false)
    public static final class Master extends DartServe {
        @Option(
                names = "--receiver",
                paramLabel = "HOST:PORT|URI",
                converter = ReceiverAddress.Converter.class,
                description = "Where the data go; this or --sink.")
        private ReceiverAddress receiver;

        @Option(
                names = "--servers",
                paramLabel = "N",
                description = "Servers expected, this one included. Default: 1.")
        private int servers = 1;

        @Override
        DartServer.Context configure(DartServer.Context context, Termination termination) {
            inRange("--servers", servers, 1, 1024);
            if ((receiver == null) == (sink == null)) {
                throw wrong(
                        "where do the data go? Give either --receiver HOST:PORT or --sink"
                                + " file:DIR");
            }
            if (receiver != null) {
                receiver.check(spec, "--receiver", false);
            }
            context.master().serverCount(servers);
            return receiver == null ? context : receiver.receiver(context);
        }

        /** Slaves may know the receiver: no other master has this configuration file. */
        @Override
        void ready() throws IOException {
            if (receiver == null) {
                Files.deleteIfExists(receiverFile());
                return;
            }
            Path fresh = receiverFile().resolveSibling(receiverFile().getFileName() + ".new");
            Files.writeString(fresh, receiver + "\n");
            Files.move(
                    fresh,
                    receiverFile(),
                    StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
        }

        @Override
        void ended() throws IOException {
            Files.deleteIfExists(receiverFile());
        }
    }

    /** {@code dart slave}. */
    @Command(
            name = "slave",
            description =
                    "Run a slave server: registers with the master of the configuration file.",
            sortOptions = false)
    public static final class Slave extends DartServe {
        @Option(
                names = "--receiver",
                paramLabel = "HOST:PORT|URI",
                converter = ReceiverAddress.Converter.class,
                description =
                        "Where the data go. Default: what the master wrote to FILE.receiver;"
                                + " or --sink.")
        private ReceiverAddress receiver;

        @Override
        DartServer.Context configure(DartServer.Context context, Termination termination)
                throws IOException {
            if (sink != null) {
                return context.slave();
            }
            if (receiver != null) {
                receiver.check(spec, "--receiver", false);
            }
            ReceiverAddress target = receiver == null ? fromMaster(termination) : receiver;
            if (target == null) {
                return null;
            }
            return target.receiver(context.slave());
        }

        private ReceiverAddress fromMaster(Termination termination) throws IOException {
            long deadlineNs = System.nanoTime() + service.timeoutNs();
            while (!ChildProcess.isThere(receiverFile())) {
                if (termination.isAsked()) {
                    return null;
                }
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw new Messages.Failure(
                            "%s did not appear within %s s: is the master running? Or "
                                    + "give --receiver HOST:PORT",
                            receiverFile(), service.timeoutSeconds());
                }
                java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
            }
            try {
                return ReceiverAddress.parse(Files.readString(receiverFile()).strip());
            } catch (IllegalArgumentException e) {
                throw new Messages.Failure(receiverFile() + ": " + e.getMessage());
            }
        }
    }
}
