package dev.verbena.cli.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.verbena.cli.CommandModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParseResult;

/** Every command line that docs/nsim.md shows is one that the command takes. */
class SimGuideTest {
    private static final Path ROOT = Path.of("..");
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"|(\\S+)");

    private static List<String> lines() throws IOException {
        return Files.readAllLines(ROOT.resolve("docs/nsim.md")).stream()
                .filter(line -> line.startsWith("    ./verbena "))
                .map(line -> line.replaceFirst(" #.*", "").strip())
                .toList();
    }

    private static String[] words(String line) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(line);
        while (matcher.find()) {
            words.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
        }
        return words.subList(1, words.size()).toArray(String[]::new);
    }

    @Test
    void shouldTakeEveryCommandLineOfTheGuide() throws IOException {
        assertThat(lines()).hasSizeGreaterThan(10);
        for (String line : lines()) {
            CommandLine command = CommandModel.line();
            assertThatCode(() -> command.parseArgs(words(line)))
                    .as(line)
                    .doesNotThrowAnyException();
            ParseResult sim = command.getParseResult().subcommand();
            for (String name :
                    sim.matchedPositionals().isEmpty() ? List.<String>of() : named(sim)) {
                Path file = name.contains("/") ? ROOT.resolve(name) : Path.of(name);
                assertThatCode(() -> SimCommand.scenario(file.toString()))
                        .as(line)
                        .doesNotThrowAnyException();
            }
        }
    }

    private static List<String> named(ParseResult sim) {
        return List.of(sim.matchedPositional(0).getValue().toString());
    }
}
