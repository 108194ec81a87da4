package dev.verbena.cli.stage.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.cli.CommandProcess;
import dev.verbena.savime.query.FakeSavimeServer;
import dev.verbena.savime.query.FakeSavimeServer.Block;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A short run that the database ends. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StageDemoIT {
    private static final Pattern RATES =
            Pattern.compile("growth rate by SQL ([0-9.]+), by linear theory ([0-9.]+)");

    private static final String QUERY =
            "aggregate(derive(field, square, value * value), sum, square, energy, t);";

    @TempDir private Path folder;

    private static ByteBuffer bytes(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private Map<String, String> withDuckDb() {
        Path home = Path.of(System.getProperty("verbena.home"));
        boolean isBuilt = Files.isDirectory(home.resolve("sink-duckdb/target/lib"));
        Assumptions.assumeTrue(isBuilt, "sink-duckdb is not built");
        return Map.of(
                "JAVA_TOOL_OPTIONS",
                "-Dverbena.home=" + home + " -Dverbena.cache=" + folder.resolve("cache"));
    }

    /** What is in shared memory would else stay until the machine is started again. */
    @Test
    void shouldLeaveNoMemoryBehind() throws Exception {
        Map<String, String> variables = new HashMap<>(withDuckDb());
        Path shared = Files.createDirectory(folder.resolve("shared"));
        variables.put("VERBENA_SHM_DIR", shared.toString());
        for (boolean isKilled : new boolean[] {true, false}) {
            Path output = folder.resolve("killed-" + isKilled);
            try (CommandProcess demo =
                    CommandProcess.start(
                            folder,
                            variables,
                            "stage",
                            "demo",
                            "--particles=1000",
                            "--steps=100000",
                            "--output=" + output)) {
                Path address = output.resolve("duckdb.address");
                demo.await(() -> Files.exists(address), "start its server");
                assertThat(folders(shared)).containsExactly("verbena-run-" + demo.handle().pid());
                if (isKilled) {
                    demo.handle().destroyForcibly();
                    demo.handle().onExit().get();
                } else {
                    demo.terminate();
                    assertThat(demo.exitCode()).as(demo.out()).isEqualTo(1);
                }
            }
        }
        assertThat(folders(shared)).isEmpty();
    }

    private static List<String> folders(Path shared) {
        return Arrays.stream(shared.toFile().list())
                .filter(name -> name.startsWith("verbena-run-"))
                .toList();
    }

    @Test
    void shouldEndWhenSqlSaysThatTheFieldIsSaturated() throws Exception {
        Path output = folder.resolve("output");
        Map<String, String> variables = withDuckDb();
        try (FakeSavimeServer savime = new FakeSavimeServer();
                CommandProcess demo =
                        CommandProcess.start(
                                folder,
                                variables,
                                "stage",
                                "demo",
                                "--particles=50000",
                                "--steps=600",
                                "--savime=127.0.0.1:" + savime.port(),
                                "--output=" + output)) {
            savime.answers.put(
                    QUERY,
                    List.of(
                            "#t,d,int32|energy,a,double:1",
                            new Block("t", bytes(4).putInt(41).array()),
                            new Block("energy", bytes(8).putDouble(2).array())));
            assertThat(demo.exitCode(240)).as(demo.out()).isZero();
            assertThat(savime.queries.get(0)).startsWith("create_tar(\"field\"");
            assertThat(savime.datasets).containsKey("field_0").hasSizeBetween(50, 600);
            // Two times half of a cell's length.
            assertThat(demo.out()).contains("SAVIME's answer has 1 steps", "step 41: 0.0801594");
            assertThat(demo.out())
                    .contains("ended by the database's answer", "steps\tt\tgrowth")
                    .contains(QUERY);
            Matcher rates = RATES.matcher(demo.out());
            assertThat(rates.find()).as(demo.out()).isTrue();
            double theory = Double.parseDouble(rates.group(2));
            assertThat(Double.parseDouble(rates.group(1))).isCloseTo(theory, within(0.1 * theory));
        }
        byte[] picture = Files.readAllBytes(output.resolve("field.png"));
        assertThat(new String(picture, 1, 3)).isEqualTo("PNG");
        assertThat(output.resolve("report.html"))
                .content()
                .contains("<svg", "data:image/png", "by SQL");
        List<String> points = Files.readAllLines(output.resolve("points.csv"));
        assertThat(points).hasSizeBetween(50, 600);
    }
}
