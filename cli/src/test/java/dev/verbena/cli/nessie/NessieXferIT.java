package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.JobGroup;
import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The transfer service; its servers are a process of their own. */
@Timeout(180)
class NessieXferIT {
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

    @ParameterizedTest
    @CsvSource({"--block-distribution, 0 0 0 1 1 2 2", "--rr-distribution, 0 1 2 0 1 2 0"})
    @Tag("nessie-X4")
    @Tag("once")
    void shouldDistributeClientsOverServers(String distribution, String expected)
            throws IOException {
        Path log = folder.resolve("log");
        Run run =
                xfer(
                        "--clients=7",
                        "--num-servers=3",
                        "--timeout=30000",
                        "--logfile=" + log,
                        distribution);
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        List<String> servers =
                Files.readAllLines(log).stream()
                        .filter(line -> line.contains(" calls server "))
                        .map(line -> line.substring(line.lastIndexOf(' ') + 1))
                        .toList();
        assertThat(String.join(" ", servers)).isEqualTo(expected);
    }

    @Test
    @Tag("once")
    void shouldRunClientsInSeveralProcessesWithABarrier() throws IOException {
        Run run =
                xfer(
                        "--io-method=read-rdma-async",
                        "--processes=2",
                        "--clients=2",
                        "--len=1000",
                        "--num-reqs=3",
                        "--num-trials=2",
                        "--num-servers=2",
                        "--timeout=30000",
                        "--logfile=" + folder.resolve("log-%r"));
        assertThat(run.err()).isEmpty();
        assertThat(run.code()).isZero();
        String[] row = run.out().lines().skip(1).findFirst().orElseThrow().strip().split(" +");
        assertThat(row).startsWith("4", "24", "1000", "384000");
        List<List<Instant>> times = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            List<String> lines = Files.readAllLines(folder.resolve("log-" + rank));
            // Block distribution: two clients for each server.
            String call = "of 4 calls server " + rank;
            assertThat(lines).anyMatch(line -> line.endsWith(call));
            times.add(
                    lines.stream()
                            .filter(line -> line.contains("trial"))
                            .map(line -> Instant.parse(line.split(" ")[0]))
                            .toList());
        }
        // Who is past the barrier behind a trial has waited for the other to begin it.
        assertThat(times.get(0)).hasSize(4);
        assertThat(times.get(0).get(1)).isAfterOrEqualTo(times.get(1).get(0));
        assertThat(times.get(1).get(1)).isAfterOrEqualTo(times.get(0).get(0));
    }

    /** Who looks all the time sees no file or a complete one. */
    @Test
    @Tag("nessie-X5")
    @Tag("once")
    void shouldPublishAllServersAtOnce() throws Exception {
        Path urls = folder.resolve("urls");
        String job = "--job=xfer-urls" + ProcessHandle.current().pid();
        List<String> words =
                List.of(
                        "nessie",
                        "xfer-server",
                        job,
                        "--num-servers=8",
                        "--server-url-file",
                        urls.toString());
        ChildProcess server =
                ChildProcess.start("server", null, Map.of(), List.of(), words, line -> {});
        try {
            while (!Files.exists(urls)) {
                assertThat(server.waitFor(1)).as(server::exitSummary).isFalse();
            }
            assertThat(JobGroup.readUrls(urls)).hasSize(8).doesNotHaveDuplicates();
        } finally {
            server.end(5000);
        }
    }

    @Test
    @Tag("once")
    void shouldUseServersThatRunAndEndThem() throws Exception {
        String urls = folder.resolve("urls").toString();
        String job = "--job=xfer-test" + ProcessHandle.current().pid();
        List<String> words = List.of("nessie", "xfer-server", job, "--num-threads=1");
        Map<String, String> variables = Map.of("NNTI_CONTACT_FILENAME", urls);
        ChildProcess server =
                ChildProcess.start("server", null, variables, List.of(), words, line -> {});
        try {
            for (String last : new String[] {"--keep-servers", "--rr-distribution"}) {
                Run run = xfer(job, "--server-url-file", urls, "--timeout=30000", last);
                assertThat(run.err()).isEmpty();
                assertThat(run.code()).isZero();
            }
            assertThat(server.waitFor(60_000)).isTrue();
            assertThat(server.exitCode()).isZero();
            // There are none any more: the client, too, has found the file's name.
            List<String> again = List.of("nessie", "xfer", job, "--timeout=10");
            ChildProcess client =
                    ChildProcess.start("client", null, variables, List.of(), again, line -> {});
            assertThat(client.waitFor(60_000)).isTrue();
            assertThat(client.exitCode()).isEqualTo(1);
        } finally {
            server.end(1000);
        }
    }

    @Test
    void shouldRefuseWrongOptions() {
        assertThat(xfer("--len=0").code()).isEqualTo(2);
        assertThat(xfer("--block-distribution", "--rr-distribution").code()).isEqualTo(2);
        assertThat(xfer("--processes=0").code()).isEqualTo(2);
        assertThat(xfer("--io-method=write").err()).contains("--io-method write");
        assertThat(xfer("--validate=half").err()).contains("none of full, crc, none");
        assertThat(xfer("--result-file-mode=x").code()).isEqualTo(2);
        assertThat(xfer("--transport=none").err()).contains("there is no such transport");
    }
}
