package dev.verbena.cli;

import dev.verbena.cli.nessie.NessieXdr;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena nessie}: programs of the RPC services. */
@Command(
        name = "nessie",
        description = {
            "Build RPC services: Java classes from the description of their messages.",
            "",
            "  verbena nessie xdr xfer.x --package org.example.xfer --output src/main/java"
        },
        mixinStandardHelpOptions = true,
        subcommands = {NessieXdr.class})
final class NessieCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "which program? There is xdr");
    }
}
