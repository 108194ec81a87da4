package dev.verbena.cli.nessie;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.agent.Await;
import dev.verbena.agent.JobGroup;
import dev.verbena.cli.Run;
import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.service.ArrayClient;
import dev.verbena.nessie.service.ArrayDescription;
import dev.verbena.nessie.service.ArrayType;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The array servers are a process of their own. */
@Timeout(180)
@Tag("once")
class NessieArrayServerTest {
    @TempDir Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    void shouldServeUntilAClientEndsIt(String scheme) throws Exception {
        assumeTrue(
                Transports.providers().stream()
                        .anyMatch(each -> each.scheme().equals(scheme) && each.isAvailable()),
                scheme + ":// is not available here");
        Path urls = folder.resolve("urls");
        String job = "array-test" + ProcessHandle.current().pid();
        List<String> words =
                List.of(
                        "nessie",
                        "array-server",
                        "--job=" + job,
                        "--transport=" + scheme,
                        "--num-servers=2",
                        "--listen=127.0.0.1:0",
                        "--directory=" + folder.resolve("arrays"),
                        "--server-url-file=" + urls);
        ChildProcess server =
                ChildProcess.start("server", null, Map.of(), List.of(), words, line -> {});
        try {
            Await.until("URLs", () -> isPublished(urls) || !server.isAlive());
            assertThat(server.isAlive()).as(server.exitSummary()).isTrue();
            putAndGet(scheme, job, JobGroup.readUrls(urls));
            assertThat(server.waitFor(60_000)).isTrue();
            assertThat(server.exitCode()).isZero();
        } finally {
            server.end(1000);
        }
    }

    private static boolean isPublished(Path urls) {
        try {
            return JobGroup.readUrls(urls) != null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void putAndGet(String scheme, String job, List<String> urls) {
        try (ArrayClient client =
                ArrayClient.connect(
                        Transports.open(scheme, new TransportContext().job(job)),
                        urls,
                        60_000,
                        e -> {})) {
            Box whole = Box.whole(6);
            NntiBuffer memory = client.allocate(6);
            memory.window().putStringWithoutLengthAscii(0, "abcdef");
            client.put(new ArrayDescription("t", 1, ArrayType.INT8, whole), whole, memory);
            client.seal("t", 1);
            memory.window().setMemory(0, 6, (byte) 0);
            assertThat(client.get("t", ArrayClient.LATEST, whole, memory, 0)).isEqualTo(1);
            assertThat(memory.window().getStringWithoutLengthAscii(0, 6)).isEqualTo("abcdef");
            client.end();
        }
    }

    private Run refused(String... more) {
        List<String> all =
                new ArrayList<>(
                        List.of("nessie", "array-server", "--directory=" + folder.resolve("d")));
        all.add("--server-url-file=" + folder.resolve("u"));
        all.addAll(List.of(more));
        return Run.of(1000, all.toArray(new String[0]));
    }

    @Test
    void shouldRefuseWrongOptions() {
        assertThat(refused("--num-servers=0").code()).isEqualTo(2);
        assertThat(refused("--memory=0").err()).contains("--memory 0 is below 1");
        assertThat(refused("--listen=4711").err()).contains("'4711' is not HOST:PORT");
        assertThat(refused("--transport=none").err()).contains("there is no such transport");
    }
}
