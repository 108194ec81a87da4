package dev.verbena.staging.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.Await;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.RecordingSink;
import dev.verbena.savime.StagingFixture;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What others see of the datasets that a server holds, and of what its sink has. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagedArraysTest {
    @TempDir Path folder;

    private static byte[] all(StagedArrays.Reader reader, int length) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(length);
        while (bytes.hasRemaining() && reader.data().read(bytes, bytes.position()) > 0) {
            // Until the end.
        }
        return bytes.array();
    }

    @Test
    void shouldKeepBytesThatSomebodyReads() throws Exception {
        StagedArrays arrays = new StagedArrays();
        RecordingSink sink = new RecordingSink(1).hold();
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(sink).arrays(arrays));
            StagingServer client = stage.connect();
            client.dataset("first", "double").write(stage.memory(1, 8192));
            client.sync();
            assertThat(arrays.list()).extracting(SinkDataset::name).containsExactly("first");
            try (StagedArrays.Reader reader = arrays.open("first")) {
                sink.openAll();
                client.drain(Duration.ofSeconds(60));
                assertThat(arrays.open("first")).isNull();
                // Of the same length: without the reader it would get the same pages.
                client.dataset("second", "double").write(stage.memory(2, 8192));
                client.drain(Duration.ofSeconds(60));
                assertThat(all(reader, 8192)).isEqualTo(StagingFixture.bytes(1, 8192));
            }
            assertThat(arrays.list()).isEmpty();
            assertThat(stage.errors).isEmpty();
        }
    }

    @Test
    void shouldCountTheSpaceOfADatasetThatIsReadStill() throws Exception {
        int length = 20 << 20;
        StagedArrays arrays = new StagedArrays();
        RecordingSink sink = new RecordingSink(1).hold();
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(sink).memory(stage.memory, 30 << 20).arrays(arrays));
            StagingServer client = stage.connect();
            OffHeapMemory data = stage.memory(1, length);
            assertThat(client.dataset("first", "double").write(data).join().isInMemory()).isTrue();
            try (StagedArrays.Reader reader = arrays.open("first")) {
                assertThat(reader).isNotNull();
                sink.openAll();
                client.drain(Duration.ofSeconds(60));
                assertThat(client.dataset("second", "double").write(data).join().isInMemory())
                        .isFalse();
            }
            client.drain(Duration.ofSeconds(60));
            Await.until(
                    "there is room",
                    () -> {
                        String name = "next" + System.nanoTime();
                        return client.dataset(name, "double").write(data).join().isInMemory();
                    });
        }
    }

    private static SinkDataset dataset(String name, long step, int rank, long from, long count) {
        PieceMetadata piece =
                new PieceMetadata(
                        "v", step, rank, new long[] {6}, new long[] {from}, new long[] {count});
        return new SinkDataset(name, "int", 4 * count, 4, piece, false);
    }

    @Test
    void shouldShowArraysOfRegularPiecesAndAllPieces() {
        ZarrView view =
                new ZarrView(
                        List.of(
                                dataset("a", 0, 1, 2, 2),
                                dataset("b", 0, 0, 0, 2),
                                dataset("c", 1, 0, 0, 4),
                                new SinkDataset("odd", "text", 4, 4, null, false),
                                new SinkDataset("d", "double:2", 16, 16, null, false)));
        assertThat(view.dataset("v/0/0")).isEqualTo("b");
        assertThat(view.dataset("v/0/1")).isEqualTo("a");
        assertThat(view.dataset("v/0/2")).isNull();
        assertThat(view.text("v/0/.zarray")).contains("\"shape\": [6], \"chunks\": [2]");
        assertThat(view.text("v/1/.zarray")).isNull();
        assertThat(view.dataset("pieces/c/0")).isEqualTo("c");
        assertThat(view.text("pieces/a/.zattrs")).contains("\"start\": [2], \"global\": [6]");
        assertThat(view.dataset("d/0/0.0")).isEqualTo("d");
        assertThat(view.text("d/0/.zarray")).contains("\"shape\": [1, 2]");
        assertThat(view.text("pieces/odd/.zarray")).isNull();
        assertThat(view.text(".zmetadata")).contains("\"v/0/.zarray\"", "\"pieces/.zgroup\"");
    }

    @Test
    void shouldTellOfAStepOnce() throws IOException {
        List<String> told = new ArrayList<>();
        RecordingSink inner = new RecordingSink(1);
        inner.refused.add("refused");
        Path file = Files.write(folder.resolve("data"), new byte[64]);
        try (SealedSteps sink =
                        new SealedSteps(inner, (name, step, n) -> told.add(name + step + ":" + n));
                SinkSession session = sink.open();
                FileChannel data = FileChannel.open(file)) {
            session.transfer(dataset("a", 3, 0, 0, 4), data);
            session.transfer(dataset("a", 3, 0, 0, 4), data);
            session.transfer(dataset("b", 4, 0, 0, 4), data);
            assertThatThrownBy(() -> session.transfer(dataset("refused", 3, 1, 4, 2), data))
                    .isInstanceOf(SinkRejectedException.class);
            assertThat(told).isEmpty();
            session.transfer(dataset("c", 3, 1, 4, 2), data);
            assertThat(told).containsExactly("v3:6");
        }
    }
}
