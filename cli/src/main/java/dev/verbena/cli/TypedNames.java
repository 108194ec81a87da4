package dev.verbena.cli;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Messages name an option as it was typed: {@code -s} or {@code --size}. */
final class TypedNames {
    private static final Pattern NAME = Pattern.compile("(?<![\\w./-])--?[A-Za-z][\\w-]*");

    private TypedNames() {}

    /**
     * The message, with the names that were typed in place of others of the same option.
     *
     * @param at the command whose options it names
     * @param typed all words behind "verbena"
     */
    static String in(String message, CommandLine at, List<String> typed) {
        Map<String, OptionSpec> options = at.getCommandSpec().optionsMap();
        return NAME.matcher(message)
                .replaceAll(
                        found -> {
                            OptionSpec option = options.get(found.group());
                            String name =
                                    option == null
                                            ? found.group()
                                            : typed(option, found.group(), typed);
                            return Matcher.quoteReplacement(name);
                        });
    }

    private static String typed(OptionSpec option, String otherwise, List<String> typed) {
        for (String name : option.names()) {
            for (String word : typed) {
                boolean isAttached = name.length() == 2 && word.startsWith(name);
                if (isAttached || word.equals(name) || word.startsWith(name + "=")) {
                    return name;
                }
            }
        }
        return otherwise;
    }
}
