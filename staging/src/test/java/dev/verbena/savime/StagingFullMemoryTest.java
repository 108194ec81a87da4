package dev.verbena.savime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.savime.wire.StgStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A memory file system that a foreign process fills. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StagingFullMemoryTest {
    private static final int BLOCK = 1 << 20;

    @TempDir Path folder;

    private static int run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        process.getInputStream().readAllBytes();
        return process.waitFor();
    }

    private static void fill(Path file) throws IOException {
        try (FileChannel out =
                FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            ByteBuffer bytes = ByteBuffer.allocate(4096);
            while (true) {
                out.write(bytes.clear());
            }
        } catch (IOException e) {
            assertThat(e).hasMessageContaining("No space left");
        }
    }

    @Test
    @Tag("savime-28")
    void shouldSurviveAMemoryFileSystemThatIsFull() throws Exception {
        Path memory = Files.createDirectory(folder.resolve("small"));
        int code = run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", memory.toString());
        Assumptions.assumeTrue(code == 0, "this user may not mount a file system");
        RecordingSink sink = new RecordingSink(1);
        try (StagingFixture stage = new StagingFixture(folder, true)) {
            stage.launch(stage.context(sink).memory(memory, 64 << 20));
            try (RawClient client = new RawClient(stage.service.port()).hello(1, BLOCK, 1, 0)) {
                long id = client.open("d", 4 * BLOCK);
                client.block(id, 0, 0, new byte[BLOCK]);
                fill(memory.resolve("foreign"));
                client.ask(id, BLOCK, BLOCK, 1);
                assertThat(client.granted()).isEqualTo(StgStatus.NO_SPACE);
                // Its size is known from the start: this goes to disk, whatever the limit says.
                long large = client.open("large", 16 * BLOCK);
                assertThat(large).isPositive();
                assertThat(stage.service.statistics().diskReserved()).isEqualTo(16 * BLOCK);
                Files.delete(memory.resolve("foreign"));
                Await.until("given back", () -> stage.service.statistics().memoryReserved() == 0);
                long next = client.open("next", BLOCK);
                client.block(next, 0, 0, new byte[BLOCK]);
                assertThat(client.sync(next, BLOCK)).isZero();
                Await.until("forwarded", () -> sink.datasets.containsKey("next"));
            }
        } finally {
            run("umount", memory.toString());
        }
    }
}
