package dev.verbena.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Every command that help shows, as picocli knows it. */
public final class CommandModel {
    private CommandModel() {}

    /** Specifications, the root first. */
    public static List<CommandSpec> all() {
        List<CommandSpec> found = new ArrayList<>();
        collect(line(), found);
        return found;
    }

    /** The parser of the command; it prints nothing. */
    public static CommandLine line() {
        PrintWriter nothing = new PrintWriter(new StringWriter());
        return new VerbenaCommand().line(() -> 80, nothing, nothing);
    }

    private static void collect(CommandLine line, List<CommandSpec> found) {
        if (!line.getCommandSpec().usageMessage().hidden()) {
            found.add(line.getCommandSpec());
            line.getSubcommands().values().stream().distinct().forEach(sub -> collect(sub, found));
        }
    }

    /** What is typed for it after "verbena". */
    public static String[] words(CommandSpec spec, String... more) {
        Stream<String> words = Stream.of(spec.qualifiedName().split(" ")).skip(1);
        return Stream.concat(words, Stream.of(more)).toArray(String[]::new);
    }
}
