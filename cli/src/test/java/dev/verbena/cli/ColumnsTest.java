package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;

/** Help and tables on narrow terminals. */
class ColumnsTest {
    private static void assertFits(String text, int width, String whole) {
        assertThat(text.lines())
                .allMatch(line -> line.length() <= width || !line.strip().contains(" "));
        assertThat(text.split("\\s+")).containsExactly(whole.split("\\s+"));
    }

    @Test
    void shouldFitEveryHelpWithoutBreakingAWord() {
        for (CommandSpec spec : CommandModel.all()) {
            String[] help = CommandModel.words(spec, "--help");
            String whole = Run.of(1_000, help).out();
            for (int width : new int[] {40, 60, 80}) {
                String text = Run.of(width, help).out();
                assertThat(text).startsWith("Usage: verbena");
                assertFits(text, width, whole);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {40, 60, 80})
    void shouldFitWhatTheDoctorAndDevicesSay(int width) {
        List<Finding> findings =
                List.of(
                        Finding.ok("shared memory", "/dev/shm (tmpfs), 6.0 GiB of 6.0 GiB free"),
                        new Finding(
                                "locked memory",
                                Finding.Level.WARNING,
                                "limit 8 MiB",
                                "an RDMA card registers locked memory: more than this fails with"
                                        + " ENOMEM. shm:// locks none, no loss now",
                                "start the container with --ulimit memlock=-1:-1"));
        assertFits(doctor(findings, width), width, doctor(findings, 1_000));
        assertFits(devices(width), width, devices(1_000));
    }

    private static String doctor(List<Finding> findings, int width) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        DoctorCommand.printText(out, findings, List.of("shm"), true, width);
        return text.toString();
    }

    private static String devices(int width) {
        StringWriter text = new StringWriter();
        DevicesCommand.printNone(new PrintWriter(text), null, width);
        return text.toString();
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

    private static Stream<String> folded(String text, int width) {
        return Columns.fold(text, width).lines();
    }
}
