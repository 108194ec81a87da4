package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchRowTest {
    @TempDir Path folder;

    private double run(String script) throws IOException, InterruptedException {
        return BenchRow.foreign(List.of("sh", "-c", script), "took (\\d+)", 2).measure(folder);
    }

    @Test
    void shouldTakeTheLastFigureOfAnotherProgram() throws Exception {
        assertThat(run("echo took 3; echo took 4")).isEqualTo(8);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void shouldTakeAFigureFromTextThatIsNotUtf8() throws Exception {
        assertThat(run("printf 'caf\\351 took 5\\n'")).isEqualTo(10);
    }

    @Test
    void shouldTakeNoFigureOfAProgramThatFailed() {
        assertThatThrownBy(() -> run("echo took 3; echo no memory; exit 7"))
                .isInstanceOf(Messages.Failure.class)
                .hasMessageContaining("ended with 7")
                .hasMessageContaining("no memory");
        assertThat(folder).isEmptyDirectory();
    }
}
