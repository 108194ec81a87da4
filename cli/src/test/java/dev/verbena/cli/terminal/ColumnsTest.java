package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandModel;
import dev.verbena.cli.Run;
import dev.verbena.cli.VerbenaCommand;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.ObjIntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import picocli.CommandLine.Model.CommandSpec;

/** Help and tables on narrow terminals. */
@Tag("once")
class ColumnsTest {
    @Test
    void shouldFitEveryHelpWithoutBreakingAWord() {
        // --long: every help in three widths instead of the narrowest alone
        int[] widths = Boolean.getBoolean("verbena.long") ? new int[] {40, 60, 80} : new int[] {40};
        for (CommandSpec spec : CommandModel.all()) {
            String[] help = CommandModel.words(spec, "--help");
            String whole = Run.of(1_000, help).out();
            for (int width : widths) {
                String text = Run.of(width, help).out();
                assertThat(text).startsWith("Usage: verbena");
                Run.assertFits(text, width, whole);
            }
        }
    }

    @Test
    void shouldKeepProgressInOneLine() {
        ObjIntConsumer<PrintWriter> steps =
                (out, width) -> {
                    ProgressLine line = new ProgressLine(out, true, width);
                    line.percent(1, 4, "a file with a long name");
                    line.percent(2, 4, "a file");
                    line.end();
                };
        assertThat(Run.printed(80, steps))
                .contains("[######..................]  25 %, a file with a long name");
        assertThat(Run.printed(44, steps).split("[\r\n]+"))
                .contains(
                        " 25 %, a file with a long name",
                        "[############............]  50 %, a file")
                .allMatch(text -> text.stripTrailing().length() < 44);
        assertThat(Run.printed(20, steps).split("\r"))
                .contains(" 25 %, a file with ")
                .allMatch(text -> text.stripTrailing().length() < 20);
    }

    @Test
    void shouldFoldErrors() {
        String[] wrong = {"lat", "--transport", "nowhere"};
        ObjIntConsumer<PrintWriter> command =
                (err, width) ->
                        VerbenaCommand.run(
                                new PrintWriter(new StringWriter()),
                                Columns.folding(err, () -> width),
                                wrong);
        String whole = Run.printed(Columns.UNKNOWN, command);
        assertThat(whole.lines()).hasSize(2);
        Run.assertFits(Run.printed(40, command), 40, whole);
    }

    @Test
    void shouldKeepColumnsAndMarks() {
        assertThat(Columns.fold("one  two three\n", 80))
                .isEqualToNormalizingNewlines("one  two three\n");
        assertThat(folded("ok      memory  much of it is free here, and nobody takes it", 42))
                .containsExactly(
                        "ok      memory  much of it is free here,",
                        "                and nobody takes it");
        assertThat(folded("# a comment that is long", 12))
                .containsExactly("# a comment", "# that is", "# long");
        assertThat(folded("  --an-option-that-is-long   what it does", 38))
                .containsExactly("  --an-option-that-is-long", "        what it does");
        assertThat(folded("\u001b[1mbold\u001b[0m and \u001b[1mnot\u001b[0m", 12)).hasSize(1);
    }

    @Test
    void shouldTellATerminalFromAFile() {
        assertThat(Columns.isTerminal("/dev/pts/3")).isTrue();
        assertThat(Columns.isTerminal("/dev/tty1")).isTrue();
        assertThat(Columns.isTerminal("/tmp/pts/3")).isFalse();
        assertThat(Columns.isTerminal("pipe:[1234]")).isFalse();
    }

    private static Stream<String> folded(String text, int width) {
        return Columns.fold(text, width).lines();
    }
}
