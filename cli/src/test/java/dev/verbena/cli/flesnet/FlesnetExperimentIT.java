package dev.verbena.cli.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Figures with very few nodes or processes: that they are drawn, not what they show. */
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

    /** Two senders to two receivers: more processes than processors, perhaps. */
    @Test
    void shouldCompareStacksWithAndWithoutSmallMessages() throws Exception {
        Run run =
                Run.of(
                        200,
                        "flesnet",
                        "experiment",
                        "fig5",
                        "--nodes=4",
                        "--transport=shm",
                        "--bytes=64,4096",
                        "--megabytes=1",
                        "--repeat=1",
                        "--output=" + folder);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out())
                .containsPattern("shm +4 +64 +yes")
                .containsPattern("MPI_Put +4 +4096 +no|without the line of MPI_Put: mpi");
        if (Runtime.getRuntime().availableProcessors() < 4) {
            assertThat(run.out()).contains("durations are not compared").contains("not compared ");
        }
        assertThat(Files.readAllLines(folder.resolve("points.csv"))).hasSizeBetween(1 + 4, 1 + 8);
        assertThat(folder.resolve("report.html"))
                .content()
                .contains("with small messages: 2 senders to 2 receivers")
                .contains("<svg");
        assertThat(folder.resolve("mpi_write_rounds")).doesNotExist();
    }

    @Test
    void shouldTimeRoundsOverSeveralTransports() throws Exception {
        Run run =
                Run.of(
                        200,
                        "flesnet",
                        "experiment",
                        "fig3",
                        "--nodes=2",
                        "--transport=portals,gni",
                        "--bytes=1024",
                        "--megabytes=1",
                        "--repeat=1",
                        "--output=" + folder);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).containsPattern("portals +2 +1024 +no").containsPattern("gni +2");
        assertThat(folder.resolve("report.html")).content().contains("Duration of a round");
    }

    @Test
    void shouldRefuseOddNumbersOfNodes() {
        assertThat(Run.of("flesnet", "experiment", "fig6", "--nodes=5").code()).isEqualTo(2);
    }
}
