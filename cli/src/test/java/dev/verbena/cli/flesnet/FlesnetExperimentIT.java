package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Figures in the simulator, of very few nodes. */
@Timeout(180)
class FlesnetExperimentIT {
    @TempDir private Path folder;

    @Test
    void shouldWritePictureAndNumbers() throws Exception {
        for (String figure : List.of("fig6", "fig7", "fig9")) {
            Path output = folder.resolve(figure);
            Run run =
                    Run.of(
                            "flesnet",
                            "experiment",
                            figure,
                            "--nodes=4,8",
                            "--per-interval=16",
                            "--intervals=4",
                            "--output=" + output);
            assertThat(run.err()).isEmpty();
            assertThat(run.code()).isZero();
            assertThat(Files.readAllLines(output.resolve("points.csv"))).hasSize(5);
            assertThat(output.resolve("report.html")).content().contains("<svg");
            assertThat(output.resolve("results.json")).content().contains("hyperx");
        }
    }

    @Test
    void shouldRefuseOddNumbersOfNodes() {
        assertThat(Run.of("flesnet", "experiment", "fig6", "--nodes=5").code()).isEqualTo(2);
    }
}
