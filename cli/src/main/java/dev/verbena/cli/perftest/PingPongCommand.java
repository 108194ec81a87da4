package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.verbs.GidEntry;
import dev.verbena.verbs.QueuePairAddress;
import dev.verbena.verbs.RdmaDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Messages to and fro over a device; the other side may be rdma-core's {@code ibv_rc_pingpong}. */
@Command(
        name = "pingpong",
        description = {
            "Send messages to and fro over an RDMA device, and compare their bytes.",
            "The other side is a Verbena or rdma-core's program ibv_TYPE_pingpong, whose options"
                    + " these are."
        },
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:every message came", "1:it failed", "2:wrong arguments"})
public final class PingPongCommand extends CliCommand {
    private static final long CONNECT_MS = 10_000;
    private static final int SHARED_MAX = 256;
    private static final QueuePairAddress NONE = new QueuePairAddress(0, 0, 0, null);
    private static final byte[] DONE = {'d', 'o', 'n', 'e', 0};

    @Mixin private Options options;

    /** What is joined. */
    enum Kind {
        rc,
        uc,
        ud,
        srq
    }

    /** Letters and meanings are those of rdma-core's programs. */
    static final class Options extends DeviceOptions {
        @Parameters(index = "0", paramLabel = "TYPE", description = "${COMPLETION-CANDIDATES}.")
        Kind kind;

        @Parameters(
                index = "1",
                paramLabel = "HOST",
                arity = "0..1",
                description = "The server. Default: be the server.")
        String host;

        @Option(
                names = {"-g", "--gid-idx"},
                paramLabel = "N",
                description = "Entry of the port's address table. Default: chosen.")
        int gidIndex = -1;

        @Option(
                names = {"-s", "--size"},
                paramLabel = "BYTES",
                description = "Length of a message. Default: 4096; ud 1024.")
        Integer size;

        @Option(
                names = {"-m", "--mtu"},
                paramLabel = "BYTES",
                description = "Length of a packet. Default: ${DEFAULT-VALUE}.")
        int mtu = 1024;

        @Option(
                names = {"-r", "--rx-depth"},
                paramLabel = "N",
                description = "Receives posted. Default: ${DEFAULT-VALUE}.")
        int depth = 500;

        @Option(
                names = {"-n", "--iters"},
                paramLabel = "N",
                description = "Messages each way. Default: ${DEFAULT-VALUE}.")
        int iterations = 1000;

        @Option(
                names = {"-q", "--num-qp"},
                paramLabel = "N",
                description = "Queue pairs; srq only. Default: 16.")
        Integer queues;

        @Option(
                names = {"-l", "--sl"},
                paramLabel = "N",
                description = "Service level. Default: ${DEFAULT-VALUE}.")
        int serviceLevel;

        @Option(
                names = {"-e", "--events"},
                description = "Sleep until something completes. Default: poll.")
        boolean isSleeping;

        @Option(
                names = {"-c", "--chk"},
                description = "Compare the bytes of what comes.")
        boolean isChecking;

        int size() {
            return size != null ? size : kind == Kind.ud ? 1024 : 4096;
        }

        /** Addresses that are told: of srq always as many as there may be. */
        int told() {
            return kind == Kind.srq ? SHARED_MAX : 1;
        }

        int queues() {
            return kind != Kind.srq ? 1 : queues == null ? 16 : queues;
        }
    }

    @Override
    public Integer call() throws IOException {
        check();
        PrintWriter out = out();
        try (RdmaDevice device = options.openDevice()) {
            GidEntry gid = options.gid(device, "-g", options.gidIndex, reason -> {});
            boolean isClient = options.host != null;
            try (PingPong pingPong = new PingPong(device, options, gid, isClient);
                    BootstrapSocket socket = meet(out)) {
                exchange(socket, pingPong, out);
                long begin = System.nanoTime();
                pingPong.run();
                report(out, (System.nanoTime() - begin) / 1e9);
                if (options.isChecking) {
                    pingPong.verify();
                    out.println(
                            options.queues() == 1
                                    ? "every byte of every message is right"
                                    : "every byte of the last message is right");
                }
            }
        }
        out.flush();
        return 0;
    }

    private void check() {
        int most = options.kind == Kind.ud ? options.mtu : 1 << 30;
        inRange("-s", options.size(), 1, most);
        inRange("-n", options.iterations, 1, 100_000_000);
        inRange("-q", options.queues(), 1, SHARED_MAX);
        inRange("-r", options.depth, Math.max(1, options.queues()), 16_384);
        inRange("-p", options.port, options.host == null ? 0 : 1, 65_535);
        inRange("-i", options.devicePort, 1, 255);
        inRange("-g", options.gidIndex, -1, 255);
        inRange("-l", options.serviceLevel, 0, 15);
        if (options.queues != null && options.kind != Kind.srq) {
            throw wrong("-q is for srq");
        }
    }

    private BootstrapSocket meet(PrintWriter out) throws IOException {
        return options.meet(
                options.host,
                CONNECT_MS,
                port -> {
                    out.println("waiting for a client on port " + port);
                    out.flush();
                });
    }

    /** A client sends its addresses first; a server is ready to receive before it sends its own. */
    private void exchange(BootstrapSocket socket, PingPong pingPong, PrintWriter out) {
        for (QueuePairAddress mine : pingPong.addresses()) {
            print(out, "local", mine);
        }
        List<QueuePairAddress> theirs = new ArrayList<>();
        if (socket.isClient()) {
            tell(socket, pingPong);
            hear(socket, theirs);
            socket.write(DONE);
            pingPong.connect(theirs);
        } else {
            hear(socket, theirs);
            pingPong.connect(theirs);
            tell(socket, pingPong);
            socket.read(DONE.length);
        }
        for (QueuePairAddress peer : theirs) {
            print(out, "remote", peer);
        }
    }

    private void tell(BootstrapSocket socket, PingPong pingPong) {
        for (QueuePairAddress mine : pingPong.addresses()) {
            socket.write(PingPongAddress.bytes(mine));
        }
        for (int q = options.queues(); q < options.told(); q++) {
            socket.write(PingPongAddress.bytes(NONE));
        }
    }

    private void hear(BootstrapSocket socket, List<QueuePairAddress> theirs) {
        for (int q = 0; q < options.queues(); q++) {
            theirs.add(PingPongAddress.parse(socket.read(PingPongAddress.LENGTH)));
        }
        socket.read((options.told() - options.queues()) * PingPongAddress.LENGTH);
    }

    private static void print(PrintWriter out, String side, QueuePairAddress address) {
        out.printf(
                "  %-7s address: LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s%n",
                side, address.lid(), address.number(), address.packetNumber(), address.gid());
        out.flush();
    }

    private void report(PrintWriter out, double seconds) {
        long bytes = 2L * options.size() * options.iterations;
        out.printf(
                Locale.ROOT,
                "%d bytes in %.2f seconds = %.2f Mbit/sec%n",
                bytes,
                seconds,
                bytes * 8 / 1e6 / seconds);
        out.printf(
                Locale.ROOT,
                "%d iters in %.2f seconds = %.2f usec/iter%n",
                options.iterations,
                seconds,
                seconds * 1e6 / options.iterations);
    }
}
