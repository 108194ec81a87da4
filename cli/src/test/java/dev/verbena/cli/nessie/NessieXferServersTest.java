package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

    @ParameterizedTest
    @CsvSource({"read-encode-sync, 16777215, 256 MiB", "write-encode-async, 8388607, 128 MiB"})
    void shouldNameTheLongestArrayThatCanBeEncoded(String method, int most, String bytes) {
        String io = "--io-method=" + method;
        Run run = Run.of(1000, "nessie", "xfer", io, "--len=" + (most + 1));
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err())
                .contains(method + " at most " + most + " structures travel (" + bytes + ")");
    }

    @Test
    void shouldRefuseTracesInWhatIsNoFolder() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        String urls = "--server-url-file=" + folder.resolve("urls");
        Run run = Run.of(1000, "nessie", "xfer-server", urls, "--traces=" + file);
        assertThat(run.code()).isEqualTo(2);
        assertThat(run.err()).contains("--traces: " + file + " is no folder and cannot be made");
    }

    /** Its process was killed, and so has left the file. */
    @Test
    @Tag("once")
    void shouldNameTheFileOfAServerThatIsGone() throws Exception {
        Path urls = folder.resolve("urls");
        String job = "--job=xfer-gone" + ProcessHandle.current().pid();
        List<String> words =
                List.of("nessie", "xfer-server", job, "--server-url-file", urls.toString());
        ChildProcess server =
                ChildProcess.start("server", null, Map.of(), List.of(), words, line -> {});
        try {
            while (!Files.exists(urls)) {
                assertThat(server.waitFor(1)).as(server::exitSummary).isFalse();
            }
        } finally {
            server.kill();
        }
        assertThat(server.waitFor(60_000)).isTrue();
        Run run = Run.of(1000, "nessie", "xfer", job, "--server-url-file", urls.toString());
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err())
                .contains(Files.readAllLines(urls).get(1))
                .contains(urls + " names it: if it has ended, start it again");
    }
}
