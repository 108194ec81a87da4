package dev.verbena.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Kinds of off-heap memory, their limits, and what happens after close. */
@Timeout(60)
class OffHeapMemoriesTest {
    @TempDir Path folder;

    @Test
    void shouldReachOffsetsAboveFourGibibytes() {
        long length = (4L << 30) + 2;
        try (OffHeapMemory memory = OffHeapMemories.allocate(length)) {
            UnsafeBuffer last = memory.buffer(length - 1, 1);
            last.putByte(0, (byte) 42);
            assertThat(memory.buffer((4L << 30), 2).getByte(1)).isEqualTo((byte) 42);
            assertThat(memory.buffer((4L << 30) + 1 - (1L << 32), 1).getByte(0)).isZero();
            assertThat(memory.length()).isEqualTo(length);
        }
    }

    @Test
    void shouldRefuseWindowsOutsideTheMemory() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(100)) {
            assertThat(memory.buffer(100, 0).capacity()).isZero();
            assertThatThrownBy(() -> memory.buffer(99, 2))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("offset 99 length 2")
                    .hasMessageContaining("100 bytes");
            assertThatThrownBy(() -> memory.buffer(-1, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.buffer(Long.MAX_VALUE, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> memory.buffer(0, -1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void shouldEmptyEveryWindowWhenClosed() {
        OffHeapMemory memory = OffHeapMemories.allocate(4096);
        UnsafeBuffer window = memory.buffer(0, 4096);
        window.putLong(8, 1);
        memory.close();
        memory.close();
        assertThat(memory.isClosed()).isTrue();
        assertThat(window.capacity()).isZero();
        assertThatThrownBy(() -> window.getLong(8)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(memory::address)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThatThrownBy(() -> memory.buffer(0, 1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> memory.acquire("late")).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldKeepMemoryOpenWhileAPartOfItIs() {
        OffHeapMemory memory = OffHeapMemories.allocate(3L << 20);
        OffHeapMemory part = OffHeapMemories.part(memory, 100, 50);
        part.buffer(0, 50).putByte(49, (byte) 3);
        assertThat(memory.buffer(149, 1).getByte(0)).isEqualTo((byte) 3);
        assertThatThrownBy(() -> part.buffer(1, 50)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(memory::close).hasMessageContaining("part at 100 of 50 bytes");
        for (long[] range : new long[][] {{-1, 1}, {0, 0}, {100, memory.length()}}) {
            assertThatThrownBy(() -> OffHeapMemories.part(memory, range[0], range[1]))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
        part.close();
        memory.close();
        assertThatThrownBy(() -> OffHeapMemories.part(memory, 0, 1))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldNameTheUsersWhenClosedTooEarly() {
        OffHeapMemory memory = OffHeapMemories.allocate(64);
        memory.acquire("operation 7");
        assertThatThrownBy(memory::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("operation 7");
        assertThat(memory.isClosed()).isFalse();
        memory.buffer(0, 8).putLong(0, 5);
        assertThatThrownBy(() -> memory.release("nobody"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("nobody");
        memory.release("operation 7");
        memory.close();
        assertThat(memory.isClosed()).isTrue();
    }

    @Test
    void shouldMapAFileForWriting() throws Exception {
        Path file = folder.resolve("mapped");
        try (OffHeapMemory memory = OffHeapMemories.mapFile(file, 4096, 10, true)) {
            memory.buffer(0, 10).putByte(9, (byte) 7);
        }
        byte[] bytes = Files.readAllBytes(file);
        assertThat(bytes).hasSize(4106);
        assertThat(bytes[4105]).isEqualTo((byte) 7);
    }

    @Test
    void shouldKeepStoresToAReadOnlyMappingToItself() throws Exception {
        Path file = folder.resolve("read");
        Files.write(file, new byte[] {1, 2, 3});
        try (OffHeapMemory memory = OffHeapMemories.mapFile(file, 0, 3, false)) {
            UnsafeBuffer window = memory.buffer(0, 3);
            assertThat(window.getByte(1)).isEqualTo((byte) 2);
            window.putByte(1, (byte) 9);
            assertThat(window.getByte(1)).isEqualTo((byte) 9);
        }
        assertThat(Files.readAllBytes(file)).containsExactly(1, 2, 3);
    }

    @Test
    void shouldRefuseFilesThatCannotBeMapped() throws Exception {
        Path file = folder.resolve("short");
        Files.write(file, new byte[100]);
        assertThatThrownBy(() -> OffHeapMemories.mapFile(file, 0, 101, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("ends before");
        assertThatThrownBy(() -> OffHeapMemories.mapFile(file, 10, 1, false))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the page size, " + UnsafeApi.pageSize());
        assertThatThrownBy(() -> OffHeapMemories.mapFile(file, UnsafeApi.pageSize() / 2, 1, false))
                .hasMessageContaining("the page size, " + UnsafeApi.pageSize());
        assertThatThrownBy(() -> OffHeapMemories.mapFile(folder, 0, 1, false))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OffHeapMemories.mapFile(folder.resolve("none"), 0, 1, false))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("errno 2");
    }

    @Test
    void shouldWrapADirectBuffer() {
        ByteBuffer direct = ByteBuffer.allocateDirect(128);
        try (OffHeapMemory memory = OffHeapMemories.wrap(direct)) {
            memory.buffer(0, 128).putByte(5, (byte) 3);
            assertThat(direct.get(5)).isEqualTo((byte) 3);
            assertThat(memory.length()).isEqualTo(128);
        }
        assertThatThrownBy(() -> OffHeapMemories.wrap(ByteBuffer.allocate(8)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OffHeapMemories.wrap(direct.asReadOnlyBuffer()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldGiveHugePagesOrSayHowToHaveThem() throws Exception {
        long free =
                Files.readAllLines(Path.of("/proc/meminfo")).stream()
                        .filter(line -> line.startsWith("HugePages_Free:"))
                        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                        .findFirst()
                        .orElse(0);
        if (free == 0) {
            assertThatThrownBy(() -> OffHeapMemories.allocateHugePages(1))
                    .isInstanceOf(OutOfMemoryError.class)
                    .hasMessageContaining("vm.nr_hugepages");
            return;
        }
        try (OffHeapMemory memory = OffHeapMemories.allocateHugePages(100)) {
            memory.buffer(0, 100).putByte(99, (byte) 1);
            assertThat(memory.length()).isEqualTo(100);
        }
    }

    @Test
    void shouldRefuseLengthsBelowOneAndAbsurdOnes() {
        assertThatThrownBy(() -> OffHeapMemories.allocate(0))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OffHeapMemories.allocate(1L << 60))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessageContaining("mmap");
    }

    @Test
    void shouldReportWhatWasDroppedWithoutClose() throws Exception {
        long before = Leaks.leakedCount();
        dropOne();
        for (int i = 0; i < 2_000 && Leaks.leakedCount() == before; i++) {
            System.gc();
            Thread.onSpinWait();
        }
        assumeTrue(Leaks.leakedCount() > before, "this JVM's collector did not run when asked");
        assertThat(Leaks.leakedCount()).isEqualTo(before + 1);
    }

    private static void dropOne() {
        OffHeapMemories.wrap(ByteBuffer.allocateDirect(8));
    }
}
