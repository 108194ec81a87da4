package dev.verbena.cli;

import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena help}, for commands below commands, too. */
@Command(
        name = "help",
        description = "Print what --help after a command prints: help dart send",
        mixinStandardHelpOptions = true)
final class HelpCommand implements Runnable {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "Default: verbena itself.")
    private List<String> words = List.of();

    @Override
    public void run() {
        CommandLine at = spec.root().commandLine();
        for (String word : words) {
            CommandLine below = at.getSubcommands().get(word);
            if (below == null) {
                throw new ParameterException(at, VerbenaCommand.unknown(at, word));
            }
            at = below;
        }
        at.usage(spec.commandLine().getOut());
    }
}
