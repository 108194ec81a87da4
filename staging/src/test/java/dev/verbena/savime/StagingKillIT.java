package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.agent.CountersFile;
import dev.verbena.savime.query.FakeSavimeServer;
import dev.verbena.savime.query.SavimeClient;
import dev.verbena.savime.query.SavimeQueries.LoadSubtar;
import dev.verbena.savime.query.SavimeSink;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Server and clients as processes that get {@code kill -9}, with a server that speaks SAVIME. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingKillIT {
    private static final int COUNT = 20;

    @TempDir Path folder;
    private final String job = "stage-kill" + ProcessHandle.current().pid();
    private Path memory;

    @BeforeEach
    void open() throws IOException {
        memory = Files.createTempDirectory(CountersFile.defaultShmDirectory(), "verbena-stage-");
    }

    @AfterEach
    void sweep() throws IOException {
        StagingFixture.delete(memory);
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            StagingFixture.delete(left);
        }
    }

    private StagingProcess server(int sinkPort) throws IOException {
        return StagingProcess.start(
                "server", job, folder.toString(), memory.toString(), Integer.toString(sinkPort));
    }

    private StagingProcess client(String name, int count) throws IOException {
        return StagingProcess.start(
                "client", job, folder.toString(), name, Integer.toString(count));
    }

    @Test
    @Tag("savime-33")
    @Tag("savime-35")
    void shouldForwardOnceInOrderWhatAKilledServerHad() throws Exception {
        // Nobody listens there.
        try (StagingProcess killed = server(1)) {
            killed.await("ready");
            try (StagingProcess client = client("d", COUNT)) {
                // More than fits into memory: the last of them are on disk.
                client.await("done");
            }
            try (StagingProcess half = client("half", COUNT)) {
                half.await("staged 0");
            }
        }
        List<String> left = new ArrayList<>(StagingFixture.staged(memory));
        left.addAll(StagingFixture.staged(folder.resolve("disk")));
        assertThat(left.stream().filter(each -> each.endsWith(".meta")).count())
                .isGreaterThan(COUNT);
        try (FakeSavimeServer savime = new FakeSavimeServer();
                StagingProcess next = server(savime.port())) {
            next.await("ready");
            Await.until(
                    () -> "forwarded " + savime.datasets.size(),
                    () -> savime.datasets.size() > COUNT && isEmpty());
            List<String> order =
                    savime.queries.stream()
                            .filter(each -> each.contains("\"d"))
                            .map(each -> each.replaceAll(".*\"(\\w+):.*", "$1"))
                            .toList();
            assertThat(order).isEqualTo(IntStream.range(0, COUNT).mapToObj(i -> "d" + i).toList());
            for (int i = 0; i < COUNT; i++) {
                assertThat(savime.datasets.get("d" + i))
                        .isEqualTo(StagingFixture.bytes(i, StagingProcess.LENGTH));
            }
        }
    }

    private boolean isEmpty() {
        try {
            // Pages that are kept for later datasets are no datasets.
            return StagingFixture.staged(memory).stream().noneMatch(each -> each.endsWith(".meta"))
                    && StagingFixture.staged(folder.resolve("disk")).isEmpty();
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    @Test
    @Tag("savime-55")
    void shouldBring85DatasetsOf5ClientsToSavime() throws Exception {
        try (FakeSavimeServer savime = new FakeSavimeServer();
                StagingFixture stage = new StagingFixture(folder, false)) {
            stage.launch(new SavimeSink("127.0.0.1", savime.port(), SavimeClient.Limits.DEFAULT));
            List<StagingServer> clients = new ArrayList<>();
            for (int client = 0; client < 5; client++) {
                StagingServer server = stage.connect();
                clients.add(server);
                for (int i = client; i < 85; i += 5) {
                    server.dataset("v" + i, ElementType.DOUBLE).write(stage.memory(i, 8000));
                    server.runAsync(
                            new LoadSubtar("vel", "t")
                                    .ordered("t", i, i)
                                    .attribute("v", "v" + i)
                                    .text());
                }
            }
            for (StagingServer server : clients) {
                server.drain(Duration.ofSeconds(60));
            }
            Await.until("loaded", () -> savime.loaded.size() == 85);
            for (int i = 0; i < 85; i++) {
                assertThat(savime.datasets.get("v" + i)).isEqualTo(StagingFixture.bytes(i, 8000));
            }
            assertThat(savime.loaded).doesNotHaveDuplicates();
            stage.stop();
            assertThat(StagingFixture.staged(stage.memory)).isEmpty();
            assertThat(StagingFixture.staged(folder.resolve("disk"))).isEmpty();
        }
    }
}
