package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingFixture;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.sink.FileSink;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Datasets are staged over libfabric's provider tcp, and over {@code auto} with both parts. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class StagingOverOfiTest {
    private static final int[] LENGTHS = {1, 4096, (1 << 20) - 8, 1 << 20, (3 << 20) + 1};

    @TempDir Path folder;

    @ParameterizedTest
    @CsvSource({"ofi, true", "ofi, false", "auto, true", "auto, false"})
    void shouldBringDatasetsThroughMemoryAndDisk(String scheme, boolean hasMemory)
            throws Exception {
        Path target = folder.resolve("sink");
        try (StagingFixture stage = new StagingFixture(folder, scheme)) {
            stage.launch(
                    stage.context(new FileSink(target))
                            .memory(stage.memory, hasMemory ? 64 << 20 : 0)
                            .heartbeat(Duration.ofSeconds(10)));
            StagingServer server =
                    stage.connect(stage.config().checksum(true).heartbeat(Duration.ofSeconds(2)));
            for (int i = 0; i < LENGTHS.length; i++) {
                server.dataset("d" + i, ElementType.CHAR).write(stage.memory(i, LENGTHS[i]));
            }
            server.drain(Duration.ofMinutes(1));
            server.close();
            stage.stop();
            assertThat(stage.errors).isEmpty();
        }
        for (int i = 0; i < LENGTHS.length; i++) {
            assertThat(Files.readAllBytes(target.resolve("d" + i + ".raw")))
                    .isEqualTo(StagingFixture.bytes(i, LENGTHS[i]));
        }
    }
}
