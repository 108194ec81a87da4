package dev.verbena.cli.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.Columns;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.ObjIntConsumer;
import org.junit.jupiter.api.Test;

/** What an experiment prints at its end. */
class DartExperimentTest {
    @Test
    void shouldFitFiguresOfExperiments() {
        Map<String, Object> summary =
                Map.of("largest deviation of simulated from measured tw, knees", 0.01234);
        ObjIntConsumer<PrintWriter> figures =
                (out, width) ->
                        new DartExperiment().print(out, summary, Path.of("/a/folder"), width);
        String whole = Run.printed(Columns.UNKNOWN, figures);
        assertThat(whole)
                .isEqualToNormalizingNewlines(
                        "largest deviation of simulated from measured tw, knees: 0.01234\n"
                                + "report: /a/folder/report.html\n");
        Run.assertFits(Run.printed(40, figures), 40, whole);
    }

    @Test
    void shouldFitIntoMemoryWhateverMayBeAsked() {
        assertThat(RawGet.fitting(2, 1 << 30)).isEqualTo(1);
        assertThat(RawGet.fitting(64, 64 << 20)).isEqualTo(16);
        assertThat(RawGet.fitting(64, 4 << 20)).isEqualTo(64);
    }
}
