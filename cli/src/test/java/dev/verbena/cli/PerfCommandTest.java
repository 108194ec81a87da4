package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
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
}
