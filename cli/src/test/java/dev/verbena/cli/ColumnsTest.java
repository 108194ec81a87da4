package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.CommandSpec;

/** Help and tables on narrow terminals. */
class ColumnsTest {
    static void assertFits(String text, int width, String whole) {
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

    private static String printed(int width, ObjIntConsumer<PrintWriter> command) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        command.accept(out, width);
        out.flush();
        return text.toString();
    }

    @Test
    void shouldFitRowsOfMeasurements() {
        for (PerfCommand command : List.of(new LatencyCommand(), new BandwidthCommand())) {
            int numbers = command.header().size();
            ObjIntConsumer<PrintWriter> rows =
                    (out, width) -> {
                        command.printRow(out, width, command.header(), "cache line [ns]");
                        List<Object> row = Collections.nCopies(numbers, "12.345");
                        command.printRow(out, width, row, " 340 unknown");
                    };
            String whole = printed(Columns.UNKNOWN, rows);
            assertThat(whole.lines()).hasSize(2);
            for (int width : new int[] {40, 60, 80}) {
                assertFits(printed(width, rows), width, whole);
            }
        }
        String header =
                printed(
                        Columns.UNKNOWN,
                        (out, width) -> {
                            PerfCommand bw = new BandwidthCommand();
                            bw.printRow(out, width, bw.header(), "cache line [ns]");
                            List<Object> row = List.of(8, 100, "1.0", "2.0", "0.125000");
                            bw.printRow(out, width, row, "  80 near");
                        });
        assertThat(header)
                .isEqualToNormalizingNewlines(
                        "   #bytes #iterations    peak[MB/sec]   average[MB/s]   rate[Mpps]"
                                + "   cache line [ns]\n"
                                + "        8         100             1.0             2.0"
                                + "     0.125000     80 near\n");
    }

    @Test
    void shouldFitFiguresOfExperiments() {
        Map<String, Object> summary =
                Map.of("largest deviation of simulated from measured tw, knees", 0.01234);
        ObjIntConsumer<PrintWriter> figures =
                (out, width) ->
                        new DartExperiment().print(out, summary, Path.of("/a/folder"), width);
        String whole = printed(Columns.UNKNOWN, figures);
        assertThat(whole)
                .isEqualToNormalizingNewlines(
                        "largest deviation of simulated from measured tw, knees: 0.01234\n"
                                + "report: /a/folder/report.html\n");
        assertFits(printed(40, figures), 40, whole);
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
        assertThat(printed(80, steps))
                .contains("[######..................]  25 %, a file with a long name");
        assertThat(printed(44, steps).split("[\r\n]+"))
                .contains(
                        " 25 %, a file with a long name",
                        "[############............]  50 %, a file")
                .allMatch(text -> text.stripTrailing().length() < 44);
        assertThat(printed(20, steps).split("\r"))
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
        String whole = printed(Columns.UNKNOWN, command);
        assertThat(whole.lines()).hasSize(2);
        assertFits(printed(40, command), 40, whole);
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
