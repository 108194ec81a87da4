package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Nonsense for every option of every command. */
@Timeout(120)
class WrongInputTest {
    @Test
    void shouldSayInOneLineWhatIsWrongWithWhichOption() {
        Set<Object> fields = new HashSet<>();
        for (CommandSpec spec : CommandModel.all()) {
            assertRefused("'--none'", CommandModel.words(spec, "--none"));
            for (OptionSpec option : spec.options()) {
                // Many commands share the class that has it.
                if (fields.add(option.userObject())) {
                    refuse(spec, option);
                }
            }
        }
        assertThat(fields).hasSizeGreaterThan(100);
    }

    private static void refuse(CommandSpec spec, OptionSpec option) {
        String name = option.longestName();
        if (option.arity().max() == 0) {
            assertRefused(name, CommandModel.words(spec, name + "=nonsense"));
            return;
        }
        assertRefused(name, CommandModel.words(spec, name));
        for (String value : nonsense(option)) {
            assertRefused(name, CommandModel.words(spec, name, value));
        }
    }

    private static void assertRefused(String option, String... line) {
        Run run = Run.of(line);
        String asked = String.join(" ", line);
        assertThat(run.err())
                .as(asked)
                .doesNotContain("Exception", "java.", "cannot convert", "not an int", "boolean")
                .contains(option, "--help'.");
        assertThat(run.err().lines()).as(asked).hasSize(2).doesNotHaveDuplicates();
        assertThat(run.code()).as(asked).isEqualTo(2);
        assertThat(run.out()).as(asked).isEmpty();
    }

    /** What the parser refuses; of other texts the command itself says which it takes. */
    private static List<String> nonsense(OptionSpec option) {
        Class<?> type = option.auxiliaryTypes()[0];
        if (type == String.class) {
            return List.of();
        }
        if (type == Path.class) {
            return List.of("");
        }
        return type == URI.class
                ? List.of("no address", "shm://%zz")
                : List.of("nonsense", "", "99999999999999999999", "-");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "dart master --confg x | verbena dart master has no option '--confg'; did you mean '--config'?",
                "dart snd | there is no command 'dart snd'; did you mean 'send'?",
                "lat x | there is no command 'lat x'",
                "doctor x | 'x' is nothing that verbena doctor takes",
                "compare | 'compare' is a command of the script: ./verbena compare",
                "pingpong xx | TYPE: 'xx' is none of rc, uc, ud, srq",
                "rping | verbena: Missing required argument (specify one of these): (-s | -c)",
                "sim --threads 99999999999 | '99999999999' is too large a number",
                "status --job a/b | --job 'a/b': letters, digits",
                "bw --window 0 | --window 0 is outside 1 to 1024",
                "help dart send x | 'x' is nothing that verbena dart send takes",
            })
    void shouldSayWhatItTakes(String line, String message) {
        Run run = Run.of(line.split(" "));
        assertThat(run.err()).contains(message);
        assertThat(run.code()).isEqualTo(2);
    }

    @Test
    void shouldRefuseASizeOfNothing() {
        assertRefused("--size", "lat", "--size", "");
        assertRefused("--size", "bw", "--size", "k");
    }
}
