package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.StagedDataset.IfTaken;
import dev.verbena.savime.StagedDataset.Place;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A dataset that was confirmed, and another one that is to take its place. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingReplaceTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir Path folder;
    private final RecordingSink sink = new RecordingSink(1).hold();
    private StagingFixture stage;
    private StagingServer server;
    private OffHeapMemory first;
    private OffHeapMemory second;

    @BeforeEach
    void start() throws IOException {
        stage = new StagingFixture(folder, true);
        first = stage.memory(1, 800);
        second = stage.memory(2, 1600);
    }

    @AfterEach
    void stop() throws Exception {
        sink.openAll();
        stage.close();
    }

    /** With {@code head} on its way to the sink, and {@code a} behind it. */
    private void launch(StagingService.Context context) {
        stage.launch(context);
        connect(stage.config());
    }

    private void connect(StagingServer.Config config) {
        server = stage.connect(config);
        server.dataset("head", ElementType.DOUBLE).place(Place.DISK).write(first).join();
        Await.until("its turn", () -> sink.waiting() == 1);
        server.dataset("a", ElementType.DOUBLE).place(Place.MEMORY).write(first).join();
    }

    private CompletableFuture<Receipt> replace(int length) {
        return server.dataset("a", ElementType.DOUBLE)
                .place(Place.MEMORY)
                .ifTaken(IfTaken.REPLACE)
                .write(second, 0, length);
    }

    private static int statusOf(CompletableFuture<?> future) {
        try {
            future.join();
            return 0;
        } catch (CompletionException e) {
            return ((StagingException) e.getCause()).status();
        }
    }

    /** There is no room for the one that is to replace it, also after a while. */
    @Test
    @Tag("savime-38")
    void shouldKeepWhatCannotBeReplaced() {
        launch(
                stage.context(sink)
                        .memory(stage.memory, 800)
                        .pool(0)
                        .admissionWait(Duration.ofMillis(50)));
        assertThat(statusOf(replace(1600))).isEqualTo(StgStatus.NO_SPACE);
        assertThat(statusOf(replace(800))).isEqualTo(StgStatus.NO_SPACE);
        assertThat(statusOf(server.dataset("a", ElementType.DOUBLE).write(first)))
                .isEqualTo(StgStatus.DUPLICATE);
        sink.openAll();
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("a: NO_SPACE");
        assertThat(sink.order).containsExactly("head", "a");
        assertThat(sink.datasets.get("a")).isEqualTo(StagingFixture.bytes(1, 800));
        Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
        server.dataset("a", ElementType.DOUBLE).write(first).join();
    }

    /** What a foreign process does to the directory. */
    @Test
    @Tag("savime-38")
    void shouldKeepWhatIsNotReplacedAsNoFileCanBeMade() throws IOException {
        launch(stage.context(sink));
        long id = server.dataset("b", ElementType.DOUBLE).write(first).join().id();
        Files.createDirectory(stage.memory.resolve(Long.toHexString(id + 1) + ".tmp"));
        assertThat(statusOf(replace(1600))).isEqualTo(StgStatus.NO_SPACE);
        sink.openAll();
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("a: NO_SPACE");
        assertThat(sink.order).containsExactly("head", "a", "b");
    }

    /** It waits for room; what it is to replace goes on to the sink, and gives its room. */
    @Test
    @Tag("savime-38")
    void shouldSendWhatCannotBeReplacedYet() throws IOException {
        launch(stage.context(sink).memory(stage.memory, 1600).pool(0).admissionWait(LONG));
        byte[] bytes = StagingFixture.bytes(2, 1600);
        try (RawClient client = new RawClient(stage.service.port()).hello(5, 1 << 20, 1, 0)) {
            client.begin(StgType.DATASET_OPEN)
                    .open(bytes.length, 1, 1, 1)
                    .openTexts("a", "char", new UnsafeBuffer(new byte[0]), 0);
            client.flush();
            client.begin(StgType.HEARTBEAT);
            client.flush();
            client.read(StgType.HEARTBEAT);
            sink.openAll();
            assertThat(client.read(StgType.DATASET_OPENED).status()).isZero();
            long id = client.message.datasetId();
            client.block(id, 0, 0, bytes);
            assertThat(client.sync(id, bytes.length)).isZero();
        }
        server.drain(LONG);
        Await.until("both", () -> sink.order.equals(List.of("head", "a", "a")));
        assertThat(sink.datasets.get("a")).isEqualTo(bytes);
    }

    @Test
    @Tag("savime-11")
    void shouldTellCommandsBehindWhatWasReplaced() {
        launch(stage.context(sink));
        var behind = server.runAsync("behind");
        Await.until("queued", () -> stage.service.statistics().queued() == 3);
        replace(1600).join();
        var next = server.runAsync("next");
        sink.openAll();
        assertThatThrownBy(behind::join).hasMessageContaining("PREDECESSOR_FAILED, a");
        assertThat(next.join().text()).isEqualTo(sink.answer);
        assertThat(sink.order).containsExactly("head", "a", "next");
        assertThat(sink.datasets.get("a")).isEqualTo(StagingFixture.bytes(2, 1600));
    }

    /** Another server is not there. */
    @Test
    @Tag("savime-11")
    void shouldNotBlameWhatItReplacedItselfForACommandBehindBoth() {
        stage.launch(stage.context(sink));
        connect(stage.config().address("127.0.0.1:1"));
        replace(1600).join();
        var next = server.runAsync("next");
        sink.openAll();
        assertThat(next.join().text()).isEqualTo(sink.answer);
        assertThat(sink.order).containsExactly("head", "a", "next");
        assertThatThrownBy(() -> server.drain(LONG)).hasMessageContaining("a: ABORTED");
    }
}
