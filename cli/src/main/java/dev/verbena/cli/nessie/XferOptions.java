package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.nessie.rpc.RpcServerOptions;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** What servers and clients of the transfer service must be started with alike. */
final class XferOptions {
    private static final int PENDING_MIN = 16;

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            description = "Transport: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.",
            completionCandidates = TransportOption.Schemes.class,
            defaultValue = "shm")
    private String scheme;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            description = "Job of servers and clients that were started by hand.",
            defaultValue = "xfer")
    String job;

    @Option(
            names = "--num-servers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Servers; default ${DEFAULT-VALUE}.")
    int servers;

    @Option(
            names = "--num-threads",
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads of a server; 0: its loop. Default: ${DEFAULT-VALUE}.")
    int threads;

    @Option(
            names = "--buffers",
            paramLabel = "N",
            defaultValue = "8",
            description = "Buffers of a server for bulk data; default ${DEFAULT-VALUE}.")
    int buffers;

    @Option(
            names = "--buffer-size",
            paramLabel = "BYTES",
            defaultValue = "4194304",
            description = "Length of such a buffer; default ${DEFAULT-VALUE}.")
    int bufferSize;

    @Option(
            names = "--traces",
            paramLabel = "DIR",
            description =
                    "Let clients trace requests of the servers: to new files in DIR/server0, ..., of"
                            + " at most 64 MiB.")
    Path traces;

    void check(CommandSpec spec) {
        TransportOption.require(spec, scheme);
        CliCommand.inRange(spec, "--num-servers", servers, 1, 64);
        CliCommand.inRange(spec, "--num-threads", threads, 0, 64);
        CliCommand.inRange(spec, "--buffers", buffers, 1, 1024);
        CliCommand.inRange(spec, "--buffer-size", bufferSize, 4096, 1 << 30);
        if (traces != null && !traces.toFile().isDirectory() && !traces.toFile().mkdirs()) {
            throw CliCommand.wrong(spec, "--traces: %s is no folder and cannot be made", traces);
        }
    }

    /** Few requests at a time, for each holds the array that it brings. */
    RpcServerOptions ofServer() {
        return RpcServerOptions.DEFAULT
                .withPendingMax(Math.max(PENDING_MIN, 2 * threads))
                .withThreads(threads)
                .withSlots(buffers, bufferSize);
    }

    Transport open(String ofJob) {
        return Transports.open(scheme, new TransportContext().job(ofJob));
    }
}
