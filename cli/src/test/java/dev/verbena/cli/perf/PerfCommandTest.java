package dev.verbena.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import dev.verbena.cli.VerbenaCommand;
import dev.verbena.cli.terminal.Columns;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Collections;
import java.util.List;
import java.util.function.ObjIntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code lat} and {@code bw} decide before they start a second process. */
@Timeout(60)
class PerfCommandTest {
    @Test
    void shouldGiveTheOtherProcessTenTimesWhatItsOwnStartTook() {
        assertThat(PerfCommand.startSeconds(0, 400)).isEqualTo(30);
        assertThat(PerfCommand.startSeconds(0, 12_000)).isEqualTo(120);
        assertThat(PerfCommand.startSeconds(0, 3_600_000)).isEqualTo(600);
        assertThat(PerfCommand.startSeconds(7, 12_000)).isEqualTo(7);
    }

    @Test
    void shouldRefuseATimeThatIsNone() {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int code = VerbenaCommand.run(out, out, "lat", "--start-timeout", "-1");
        assertThat(code).isEqualTo(2);
        assertThat(said.toString()).contains("--start-timeout -1 is outside");
    }

    @Test
    void shouldRefuseAProcessorThatIsNotThere() {
        Run run = Run.of("lat", "--transport=shm", "--peer-processor", "4000");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--peer-processor 4000: this machine has 0");
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
            String whole = Run.printed(Columns.UNKNOWN, rows);
            assertThat(whole.lines()).hasSize(2);
            for (int width : new int[] {40, 60, 80}) {
                Run.assertFits(Run.printed(width, rows), width, whole);
            }
        }
        String header =
                Run.printed(
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
}
