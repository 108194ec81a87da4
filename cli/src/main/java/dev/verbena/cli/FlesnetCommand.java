package dev.verbena.cli;

import dev.verbena.cli.flesnet.FlesnetComputeCommand;
import dev.verbena.cli.flesnet.FlesnetConsumeCommand;
import dev.verbena.cli.flesnet.FlesnetExperimentCommand;
import dev.verbena.cli.flesnet.FlesnetInputCommand;
import dev.verbena.cli.flesnet.FlesnetRunCommand;
import dev.verbena.cli.flesnet.FlesnetWritePeer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code verbena flesnet}: builds timeslices out of detector data. */
@Command(
        name = "flesnet",
        description = {
            "Build timeslices: input nodes write microslices into the memory of compute nodes.",
            "",
            "  verbena flesnet run --inputs 2 --computes 2 --timeslices 10000"
        },
        mixinStandardHelpOptions = true,
        subcommands = {
            FlesnetRunCommand.class,
            FlesnetInputCommand.class,
            FlesnetComputeCommand.class,
            FlesnetConsumeCommand.class,
            FlesnetExperimentCommand.class,
            FlesnetWritePeer.class
        })
final class FlesnetCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Override
    public void run() {
        throw new ParameterException(
                spec.commandLine(),
                "which program? There are run, input, compute, consume and experiment");
    }
}
