package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What clients of the transfer service see of its servers: traces, and that one is gone. */
@Timeout(180)
class NessieXferServersTest {
    @TempDir Path folder;

    @Test
    @Tag("once")
    void shouldTraceTheServersRequests() throws IOException {
        Run run =
                Run.of(
                        1000,
                        "nessie",
                        "xfer",
                        "--num-reqs=5",
                        "--timeout=30000",
                        "--traces=" + folder,
                        "--trace=requests.csv");
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        List<String> lines = Files.readAllLines(folder.resolve("server0").resolve("requests.csv"));
        assertThat(lines).first().asString().startsWith("arrived_ns,");
        assertThat(lines).filteredOn(line -> line.matches("([0-9]+,){5}2,[0-9]+,0,.*")).hasSize(5);
    }

    @Test
    void shouldRefuseATraceThatHasNoFolder() {
        Run run = Run.of(1000, "nessie", "xfer", "--trace=requests.csv");
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--trace needs --traces DIR");
    }

}
