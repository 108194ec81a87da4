package dev.verbena.cli.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ProgressLineTest {
    @Test
    void shouldNameWhatIsCounted() {
        StringWriter text = new StringWriter();
        ProgressLine line = new ProgressLine(new PrintWriter(text), false, 80);
        line.progress(1, 4, "energy 2");
        line.progress("sent", 3, 4, "a/file");
        assertThat(text.toString().lines())
                .containsExactly("  step 1/4, energy 2", "  sent 3/4, a/file");
    }
}
