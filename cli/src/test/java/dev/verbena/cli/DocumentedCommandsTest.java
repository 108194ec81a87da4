package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** Command lines of README.md and docs/: there are such commands and options, and they parse. */
@Timeout(60)
@Tag("once")
class DocumentedCommandsTest {
    private static final Path HOME = Path.of(System.getProperty("verbena.home", ".."));

    /** Begins a line of a code block, a span of code, or another command. */
    private static final Pattern LINE =
            Pattern.compile(
                    "(?m)(?:^ {4}(?:.*?[ '(]\\./)?|`(?:\\./)?|^ {4}\\./)verbena ((?:\\\\\\n|[^`\\n])+)");

    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|'([^']*)'|(\\S+)");

    /** In place of a value that the reader chooses, or of more words. */
    private static final Pattern LEFT_OPEN =
            Pattern.compile("[A-Z_]{2,}|[$\\[\\]]|\\.\\.\\.|\\b[A-Z]\\b");

    static Stream<String> lines() throws IOException {
        List<String> found = new ArrayList<>();
        try (Stream<Path> pages = Files.list(HOME.resolve("docs"))) {
            List<Path> all =
                    new ArrayList<>(pages.filter(p -> p.toString().endsWith(".md")).toList());
            all.add(HOME.resolve("README.md"));
            for (Path page : all) {
                Matcher line = LINE.matcher(Files.readString(page));
                while (line.find()) {
                    found.add(page.getFileName() + ": " + line.group(1).replace("\\\n", " "));
                }
            }
        }
        assertThat(found).hasSizeGreaterThan(80);
        return found.stream().distinct();
    }

    @ParameterizedTest
    @MethodSource("lines")
    void shouldParse(String line) {
        String typed = line.substring(line.indexOf(": ") + 2).replace("\\|", "|");
        typed = typed.replaceFirst("(\\s#|\\s[|&;>:]|\\s--\\s|[;)]).*", "");
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(typed);
        while (word.find()) {
            String plain = word.group(3);
            words.add(
                    plain != null
                            ? plain.replaceFirst("[,:]$|'$", "")
                            : word.group().replaceAll("[\"']", ""));
        }
        boolean isMessage = line.matches("\\S+ \\w+: .*");
        if (isMessage || words.isEmpty() || VerbenaCommand.SCRIPT_COMMANDS.contains(words.get(0))) {
            return;
        }
        boolean isOpen = words.get(words.size() - 1).startsWith("-");
        if (!isOpen && !LEFT_OPEN.matcher(typed).find()) {
            assertThatCode(() -> CommandModel.line().parseArgs(words.toArray(new String[0])))
                    .doesNotThrowAnyException();
            return;
        }
        CommandLine at = CommandModel.line();
        assertThat(words.get(0)).matches(first -> first.startsWith("-") || isCommand(first));
        boolean hasOption = false;
        for (String each : words) {
            hasOption |= each.startsWith("-");
            if (!hasOption && at.getSubcommands().containsKey(each)) {
                at = at.getSubcommands().get(each);
            } else if (each.startsWith("-")) {
                String option = each.replaceFirst("=.*", "");
                assertThat(at.getCommandSpec().optionsMap()).containsKey(option);
            }
        }
    }

    private static boolean isCommand(String word) {
        return CommandModel.line().getSubcommands().containsKey(word);
    }
}
