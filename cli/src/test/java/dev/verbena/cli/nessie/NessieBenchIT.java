package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code nessie bench} as a user ends it. */
@Timeout(120)
class NessieBenchIT {
    @TempDir Path folder;

    @Test
    void shouldKeepWhatWasMeasuredWhenItIsEnded() throws Exception {
        Path output = folder.resolve("bench");
        String[] line = {
            "nessie", "bench", "--quick", "--rounds=20", "--only=write", "--output=" + output
        };
        try (CommandProcess bench = CommandProcess.start(folder, line)) {
            bench.awaitOut("step 4/40");
            bench.terminate();
            assertThat(bench.exitCode()).isEqualTo(1);
            assertThat(bench.out()).contains("ended early").contains("pulled by the server");
        }
        assertThat(Files.readString(output.resolve("report.html"))).contains("pulled by");
    }
}
