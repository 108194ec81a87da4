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

/** The transfer service; its servers are a process of their own. */
@Timeout(180)
class NessieXferTest {
    @TempDir Path folder;

    private static Run xfer(String... more) {
        String[] all = new String[2 + more.length];
        all[0] = "nessie";
        all[1] = "xfer";
        System.arraycopy(more, 0, all, 2, more.length);
        return Run.of(1000, all);
    }

    @Test
    @Tag("nessie-X1")
    void shouldRunOverTwoProcesses() throws IOException {
        Path file = folder.resolve("result");
        Run run =
                xfer(
                        "--io-method=write-rdma-async",
                        "--len=300000",
                        "--num-reqs=4",
                        "--num-trials=2",
                        "--clients=3",
                        "--num-servers=2",
                        "--timeout=30000",
                        "--validate=crc",
                        "--result-file=" + file);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        assertThat(run.out()).isEqualTo(Files.readString(file));
        String[] row = run.out().lines().skip(1).findFirst().orElseThrow().strip().split(" +");
        assertThat(row).startsWith("3", "24", "300000", "115200000");
    }

    @Test
    void shouldUseServersThatRunAndEndThem() throws Exception {
        String urls = folder.resolve("urls").toString();
        String job = "--job=xfer-test" + ProcessHandle.current().pid();
        List<String> words =
                List.of("nessie", "xfer-server", job, "--num-threads=1", "--server-url-file", urls);
        ChildProcess server =
                ChildProcess.start("server", null, Map.of(), List.of(), words, line -> {});
        try {
            for (String last : new String[] {"--keep-servers", "--rr-distribution"}) {
                Run run = xfer(job, "--server-url-file", urls, "--timeout=30000", last);
                assertThat(run.err()).isEmpty();
                assertThat(run.code()).isZero();
            }
            assertThat(server.waitFor(60_000)).isTrue();
            assertThat(server.exitCode()).isZero();
        } finally {
            server.end(1000);
        }
    }

    @Test
    void shouldRefuseWrongOptions() {
        assertThat(xfer("--len=0").code()).isEqualTo(2);
        assertThat(xfer("--io-method=write").err()).contains("--io-method write");
        assertThat(xfer("--validate=half").err()).contains("none of full, crc, none");
        assertThat(xfer("--result-file-mode=x").code()).isEqualTo(2);
        assertThat(xfer("--transport=none").err()).contains("there is no such transport");
    }
}
