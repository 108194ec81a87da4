package dev.verbena.shm;

import static dev.verbena.memory.RemoteDescriptor.REMOTE_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.CountersFile;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that the transport maps for peers. */
@Timeout(60)
class ShmFilesTest {
    private static final int PAGE = 4096;
    private static final int LENGTH = (5 << 20) + 1;

    private Path file;

    @BeforeEach
    void make() throws IOException {
        file = Files.createTempFile(CountersFile.defaultShmDirectory(), "verbena-file-", "");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(LENGTH);
        }
    }

    @AfterEach
    void delete() throws IOException {
        Files.deleteIfExists(file);
    }

    private int links() throws IOException {
        return (int) Files.getAttribute(file, "unix:nlink");
    }

    private static int put(
            Pair pair, RegisteredRegion source, RemoteDescriptor target, int length, int flags) {
        int before = pair.seenA.statuses.size();
        assertThat(pair.a.put(pair.fromA, source, 0, target, 0, length, 1, flags))
                .isEqualTo(Transport.ACCEPTED);
        pair.until(() -> pair.seenA.statuses.size() > before);
        return pair.seenA.statuses.get(before);
    }

    @Test
    void shouldLetPeersPutIntoAPartOfAFile() throws IOException {
        int length = 3 << 20;
        try (Pair pair = new Pair();
                OffHeapMemory memory = pair.b.mapFile(file, LENGTH);
                OffHeapMemory part = OffHeapMemories.part(memory, PAGE, length);
                RegisteredRegion target = pair.b.register(part, REMOTE_WRITE);
                RegisteredRegion source = pair.a.allocate(2L * length, 0)) {
            source.buffer(0, length).setMemory(0, length, (byte) 7);
            RemoteDescriptor there =
                    target.describe(0, length, REMOTE_WRITE, new RemoteDescriptor());
            assertThat(put(pair, source, there, length, Transport.STREAMED)).isEqualTo(Status.OK);
            assertThat(put(pair, source, there, 1, Transport.STREAMED)).isEqualTo(Status.OK);
            assertThat(put(pair, source, there, length + 1, 0)).isEqualTo(Status.BOUNDS);
            byte[] bytes = Files.readAllBytes(file);
            for (int i = 0; i < LENGTH; i++) {
                int expected = i >= PAGE && i < PAGE + length ? 7 : 0;
                assertThat((int) bytes[i]).as("byte %s", i).isEqualTo(expected);
            }
            assertThatThrownBy(memory::close).hasMessageContaining("part at " + PAGE);
            target.close();
            assertThat(put(pair, source, there, PAGE, Transport.STREAMED))
                    .isEqualTo(Status.STALE_KEY);
        }
        assertThat(Files.readAllBytes(file)[PAGE]).isEqualTo((byte) 7);
    }

    @Test
    void shouldGiveTheFileItsOneNameBackAndKeepTheTransportOpenUntilThen() throws IOException {
        try (Transport transport = ShmTesting.open("owner")) {
            OffHeapMemory memory = transport.mapFile(file, LENGTH);
            assertThat(links()).isEqualTo(2);
            assertThatThrownBy(transport::close).hasMessageContaining(file.toString());
            memory.close();
            assertThat(links()).isEqualTo(1);
        }
    }

    @Test
    void shouldNotMapWhatItCannot() throws IOException {
        try (Transport transport = ShmTesting.open("owner")) {
            assertThat(transport.mapFile(file, LENGTH + 1)).isNull();
            assertThat(transport.mapFile(file, 0)).isNull();
            assertThat(transport.mapFile(file.resolveSibling("not there"), 1)).isNull();
            assertThat(transport.mapFile(Path.of("/proc/self/status"), 1)).isNull();
        }
    }

    @Test
    void shouldMapByTheSharedMemoryOfATransportOfSeveral() throws IOException {
        try (Transport transport = Transports.open("auto", ShmTesting.context("owner"));
                OffHeapMemory memory = transport.mapFile(file, LENGTH);
                RegisteredRegion region = transport.register(memory, REMOTE_WRITE)) {
            assertThat(region.length()).isEqualTo(LENGTH);
            assertThat(links()).isEqualTo(2);
        }
    }
}
