package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.VerbsDevice;
import dev.verbena.staging.sink.FileSink;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Datasets that clients put into the server's memory by an RDMA device. */
@Tag("verbs-device")
@Timeout(value = 400, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingOverVerbsIT {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int[] LENGTHS = {1, 4096, (64 << 10) - 8, (256 << 10) + 1, 500_000};

    @TempDir Path folder;

    @BeforeEach
    void device() {
        VerbsDevice.require();
    }

    /** Several blocks are granted at a time, so that messages and writes cross each other. */
    @Test
    @Tag("savime-24")
    void shouldCountNoRetryForAReceiverThatIsNotReady() throws Exception {
        List<Path> counters = retryCounters();
        assertThat(counters).as("counters of the device").isNotEmpty();
        long before = sum(counters);
        Path target = folder.resolve("sink");
        try (StagingFixture stage = new StagingFixture(folder, VerbsDevice.SCHEME)) {
            stage.launch(stage.context(new FileSink(target)).heartbeat(Duration.ofSeconds(10)));
            StagingServer server =
                    stage.connect(
                            stage.config()
                                    .blockSize(64 << 10)
                                    .window(4)
                                    .connectTimeout(LIMIT)
                                    .heartbeat(Duration.ofSeconds(2)));
            for (int i = 0; i < LENGTHS.length; i++) {
                server.dataset("d" + i, ElementType.CHAR).write(stage.memory(i, LENGTHS[i]));
            }
            server.drain(LIMIT);
            server.close();
            stage.stop();
            assertThat(stage.errors).isEmpty();
        }
        for (int i = 0; i < LENGTHS.length; i++) {
            assertThat(Files.readAllBytes(target.resolve("d" + i + ".raw")))
                    .isEqualTo(StagingFixture.bytes(i, LENGTHS[i]));
        }
        assertThat(sum(counters)).as("of %s", counters).isEqualTo(before);
    }

    /** Soft-RoCE and NICs name them differently, but for these three letters. */
    private static List<Path> retryCounters() throws IOException {
        List<Path> found = new ArrayList<>();
        for (Path device : children(DEVICES)) {
            for (Path port : children(device.resolve("ports"))) {
                found.addAll(children(port.resolve("hw_counters")));
            }
        }
        found.removeIf(counter -> !counter.getFileName().toString().contains("rnr"));
        return found;
    }

    private static List<Path> children(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    private static long sum(List<Path> counters) throws IOException {
        long sum = 0;
        for (Path counter : counters) {
            sum += Long.parseLong(Files.readString(counter).trim());
        }
        return sum;
    }
}
