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

    /** Both ways of the figure, 40 intervals each. */
    @Test
    void shouldDrawWhatADisturbanceDoes() throws Exception {
        Run run =
                Run.of(
                        "flesnet",
                        "experiment",
                        "fig8",
                        "--nodes=4",
                        "--per-interval=16",
                        "--intervals=40",
                        "--output=" + folder);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(Files.readAllLines(folder.resolve("points.csv"))).hasSize(1 + 2 * 40);
        assertThat(folder.resolve("report.html")).content().contains("<svg");
        assertThat(folder.resolve("results.json")).content().contains("noise.hold");
    }

    @Test
    void shouldRefuseOddNumbersOfNodes() {
        assertThat(Run.of("flesnet", "experiment", "fig6", "--nodes=5").code()).isEqualTo(2);
    }
}
