package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.SampledByDay;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkDataset;
import dev.verbena.staging.sink.SinkRejectedException;
import dev.verbena.staging.sink.SinkSession;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** More than one operation can carry. On another JDK it runs again on one day of three. */
@SampledByDay(isWholeAtFirst = true, parts = 3)
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingLargeIT {
    private static final long LENGTH = 3L << 30;
    private static final long SPARE = 2L << 30;
    private static final int STRIDE = 1 << 20;

    @TempDir Path folder;

    /** Reads eight bytes of each stride, and the last ones. */
    private record SampleSink(List<Long> samples) implements Sink {
        @Override
        public int sessionsMax() {
            return 1;
        }

        @Override
        public SinkSession open() {
            return new SampleSession(samples);
        }

        @Override
        public void close() {}
    }

    private record SampleSession(List<Long> samples) implements SinkSession {
        @Override
        public void transfer(SinkDataset dataset, FileChannel data) throws IOException {
            ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
            for (long at : positions(dataset.length())) {
                data.read(bytes.clear(), at);
                samples.add(bytes.getLong(0));
            }
        }

        @Override
        public String command(String text) throws IOException {
            throw new SinkRejectedException("no commands");
        }

        @Override
        public void close() {}
    }

    private static long[] positions(long length) {
        return LongStream.concat(
                        LongStream.range(0, length / STRIDE).map(i -> i * STRIDE),
                        LongStream.of(length - 8))
                .toArray();
    }

    /** Every byte is in the checksum, too. */
    @Test
    @Tag("savime-23")
    void shouldBringADatasetOf3GiB() throws Exception {
        List<Long> samples = new CopyOnWriteArrayList<>();
        try (StagingFixture stage = new StagingFixture(folder, false);
                OffHeapMemory memory = OffHeapMemories.allocate(LENGTH)) {
            long usable = Files.getFileStore(stage.memory).getUsableSpace();
            Assumptions.assumeTrue(
                    usable > LENGTH + SPARE, "the memory file system has no 5 GiB to spare");
            stage.launch(
                    stage.context(new SampleSink(samples)).memory(stage.memory, LENGTH).pool(0));
            for (long at : positions(LENGTH)) {
                memory.buffer(at, 8).putLong(0, ~at);
            }
            StagingServer server =
                    stage.connect(stage.config().blockSize(256 << 20).checksum(true));
            assertThat(server.dataset("large", ElementType.INT64).write(memory).join().isInMemory())
                    .isTrue();
            server.drain(Duration.ofSeconds(200));
            assertThat(samples)
                    .containsExactlyElementsOf(
                            LongStream.of(positions(LENGTH)).map(at -> ~at).boxed().toList());
            assertThat(stage.errors).isEmpty();
        }
    }
}
