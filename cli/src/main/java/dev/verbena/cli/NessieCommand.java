package dev.verbena.cli;

import dev.verbena.cli.nessie.BenchPart;
import dev.verbena.cli.nessie.BenchPeer;
import dev.verbena.cli.nessie.NessieArrayServer;
import dev.verbena.cli.nessie.NessieBench;
import dev.verbena.cli.nessie.NessieXdr;
import dev.verbena.cli.nessie.NessieXfer;
import dev.verbena.cli.nessie.NessieXferServer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena nessie}: programs of the RPC services. */
@Command(
        name = "nessie",
        description = {
            "Build RPC services, serve arrays, and measure a service that transfers them.",
            "",
            "  verbena nessie xdr xfer.x --package org.example.xfer --output src/main/java",
            "  verbena nessie xfer --io-method write-rdma-async --len 262144 --num-reqs 8",
            "  verbena nessie array-server --directory DIR --server-url-file FILE",
            "  verbena nessie bench"
        },
        mixinStandardHelpOptions = true,
        subcommands = {
            NessieXdr.class,
            NessieXferServer.class,
            NessieXfer.class,
            NessieArrayServer.class,
            NessieBench.class,
            BenchPart.class,
            BenchPeer.class
        })
final class NessieCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "which program? There are xdr, xfer-server, xfer, array-server, bench");
    }
}
