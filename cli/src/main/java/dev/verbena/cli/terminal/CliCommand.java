package dev.verbena.cli.terminal;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What every command has: how it was called, where it prints, how it refuses an option. */
@Command(mixinStandardHelpOptions = true)
public abstract class CliCommand implements Callable<Integer> {
    /** How this command was called. */
    @Spec protected CommandSpec spec;

    /** For picocli. */
    protected CliCommand() {}

    /** Standard output. */
    protected final PrintWriter out() {
        return spec.commandLine().getOut();
    }

    /** Standard error. */
    protected final PrintWriter err() {
        return spec.commandLine().getErr();
    }

    /** Prints a line that is shown at once. */
    protected final void say(String line) {
        out().println(line);
        out().flush();
    }

    /** As {@link #say(String)}, with values in it as {@link Text#format} puts them there. */
    protected final void say(String format, Object... values) {
        say(Text.format(format, values));
    }

    /** The words behind "verbena". */
    protected final String commandLine() {
        return String.join(" ", spec.commandLine().getParseResult().originalArgs());
    }

    /** The options that it was given, as words for a process of another command. */
    protected final List<String> given(Predicate<OptionSpec> isMeant) {
        List<String> words = new ArrayList<>();
        for (OptionSpec option : spec.commandLine().getParseResult().matchedOptions()) {
            if (isMeant.test(option)) {
                // A flag may have been given as --flag=false.
                boolean isFlag = option.arity().max() == 0;
                Object value = isFlag ? option.getValue() : option.originalStringValues().get(0);
                words.add(option.longestName() + "=" + value);
            }
        }
        return words;
    }

    /** An option that this command cannot take; a format if values follow. */
    protected final ParameterException wrong(String message, Object... values) {
        return wrong(spec, message, values);
    }

    /**
     * Refuses an option outside a range.
     *
     * @param value null: the option was not given
     */
    protected final void inRange(String option, Number value, Number min, Number max) {
        inRange(spec, option, value, min, max);
    }

    /** As {@link #wrong(String, Object...)}, for options that several commands share. */
    public static ParameterException wrong(CommandSpec spec, String message, Object... values) {
        String text = values.length == 0 ? message : String.format(message, values);
        return new ParameterException(spec.commandLine(), text);
    }

    /** As {@link #inRange(String, Number, Number, Number)}, for options that commands share. */
    public static void inRange(
            CommandSpec spec, String option, Number value, Number min, Number max) {
        boolean isInside =
                value == null
                        || value.doubleValue() >= min.doubleValue()
                                && value.doubleValue() <= max.doubleValue();
        if (!isInside) {
            throw wrong(spec, option + " " + value + " is outside " + min + " to " + max);
        }
    }
}
