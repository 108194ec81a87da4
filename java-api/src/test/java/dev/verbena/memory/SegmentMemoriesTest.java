package dev.verbena.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.shm.ShmTesting;
import dev.verbena.transport.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Segments are reached by reflection, as this is compiled for Java 17; runs on JDK 25 in CI. */
@Timeout(60)
class SegmentMemoriesTest {
    private static void assumeSegments() {
        assumeTrue(
                SegmentMemories.unavailabilityCause() == null,
                "memory segments need JDK 22 or newer");
    }

    private static Class<?> type() throws ClassNotFoundException {
        return Class.forName("java.lang.foreign.MemorySegment");
    }

    private static ByteBuffer bytes(Object segment) throws Exception {
        return (ByteBuffer) type().getMethod("asByteBuffer").invoke(segment);
    }

    private static Object ofArray(byte[] bytes) throws Exception {
        return type().getMethod("ofArray", byte[].class).invoke(null, (Object) bytes);
    }

    @Test
    void shouldSayWhatIsNeededOnAnOlderJdk() {
        assumeTrue(
                SegmentMemories.unavailabilityCause() != null,
                "this JDK has memory segments; the message is that of older ones");
        assertThatThrownBy(() -> SegmentMemories.allocate(8))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("need JDK 22 or newer")
                .hasMessageContaining("Use OffHeapMemories");
    }

    @Test
    void shouldShareBytesWithARegionAndEndWithTheMemory() throws Exception {
        assumeSegments();
        OffHeapMemory memory = SegmentMemories.allocate(100_000);
        Object segment = SegmentMemories.segment(memory, type());
        ByteBuffer seen = bytes(segment);
        try (Transport transport = ShmTesting.open("segments")) {
            RegisteredRegion region = transport.register(memory, 0);
            region.buffer(99_992, 8).putByte(7, (byte) 42);
            assertThat(seen.get(99_999)).isEqualTo((byte) 42);
            assertThat(region.address()).isEqualTo(memory.address());
            assertThat(memory.address() % 4096).isZero();
            assertThatThrownBy(memory::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("close them first");
            assertThat(seen.get(0)).isZero();
            region.close();
        }
        memory.close();
        // Its scope has ended: no access to memory that is not there.
        assertThatThrownBy(() -> seen.get(0)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> SegmentMemories.segment(memory, type()))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldShowAnAllocatedRegionUntilItCloses() throws Exception {
        assumeSegments();
        try (Transport transport = ShmTesting.open("segments")) {
            RegisteredRegion region = transport.allocate(100_000, 0);
            Object segment = SegmentMemories.segment(region, type());
            Object again = SegmentMemories.segment(region, type());
            ByteBuffer seen = bytes(segment);
            assertThat(seen.capacity()).isEqualTo(100_000);
            region.buffer(99_992, 8).putByte(7, (byte) 42);
            assertThat(seen.get(99_999)).isEqualTo((byte) 42);
            bytes(again).put(5, (byte) 7);
            assertThat(region.buffer(5, 1).getByte(0)).isEqualTo((byte) 7);
            assertThatThrownBy(() -> SegmentMemories.segment(region, String.class))
                    .isInstanceOf(IllegalArgumentException.class);
            region.close();
            for (Object each : new Object[] {segment, again}) {
                assertThatThrownBy(() -> bytes(each).get(0))
                        .isInstanceOf(IllegalStateException.class);
            }
            assertThatThrownBy(() -> seen.get(99_999)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> SegmentMemories.segment(region, type()))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRefuseToCloseARegionWhoseSegmentIsInUse() throws Exception {
        assumeSegments();
        Pipe pipe = Pipe.open();
        try (Transport transport = ShmTesting.open("segments");
                Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            RegisteredRegion region = transport.allocate(64, 0);
            ByteBuffer seen = bytes(SegmentMemories.segment(region, type()));
            CompletableFuture<Integer> read = readInto(seen, source);
            assertThatThrownBy(region::close).isInstanceOf(IllegalStateException.class);
            // Nothing was taken away: the kernel writes where the segment is.
            assertThat(region.isClosed()).isFalse();
            sink.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            assertThat(read.get(30, TimeUnit.SECONDS)).isEqualTo(3);
            assertThat(region.buffer(2, 1).getByte(0)).isEqualTo((byte) 3);
            region.close();
            assertThatThrownBy(() -> seen.get(0)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldRefuseToCloseMemoryWhoseSegmentIsInUse() throws Exception {
        assumeSegments();
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            OffHeapMemory memory = SegmentMemories.allocate(64);
            UnsafeBuffer window = memory.buffer(0, 64);
            ByteBuffer seen = bytes(SegmentMemories.segment(memory, type()));
            CompletableFuture<Integer> read = readInto(seen, source);
            assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class);
            // Nothing was taken away: the kernel writes where the segment is.
            assertThat(memory.isClosed()).isFalse();
            sink.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            assertThat(read.get(30, TimeUnit.SECONDS)).isEqualTo(3);
            assertThat(window.getByte(2)).isEqualTo((byte) 3);
            assertThat(memory.buffer(2, 1).getByte(0)).isEqualTo((byte) 3);
            memory.close();
            assertThat(window.capacity()).isZero();
            assertThatThrownBy(() -> seen.get(0)).isInstanceOf(IllegalStateException.class);
        }
    }

    /** Of a thread that is in the JDK's call already, until the pipe has bytes. */
    private static CompletableFuture<Integer> readInto(
            ByteBuffer target, Pipe.SourceChannel source) {
        AtomicReference<Thread> reader = new AtomicReference<>();
        CompletableFuture<Integer> read =
                CompletableFuture.supplyAsync(
                        () -> {
                            reader.set(Thread.currentThread());
                            try {
                                return source.read(target);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        while (reader.get() == null || !isReading(reader.get())) {
            Thread.onSpinWait();
        }
        return read;
    }

    private static boolean isReading(Thread thread) {
        return Stream.of(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("read0"));
    }

    @Test
    void shouldRegisterNoSegmentWhoseArenaIsClosed() throws Exception {
        assumeSegments();
        Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
        try (Transport transport = ShmTesting.open("segments")) {
            AutoCloseable arena = (AutoCloseable) arenaType.getMethod("ofShared").invoke(null);
            Object segment =
                    arenaType.getMethod("allocate", long.class, long.class).invoke(arena, 64L, 8L);
            OffHeapMemory wrapped = SegmentMemories.wrap(segment);
            RegisteredRegion region = transport.register(wrapped, 0);
            region.close();
            arena.close();
            assertThatThrownBy(() -> transport.register(wrapped, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("arena of the segment was closed");
            assertThatThrownBy(() -> wrapped.buffer(0, 8))
                    .isInstanceOf(IllegalStateException.class);
            wrapped.close();
        }
    }

    @Test
    void shouldGiveNoWindowIntoABufferWhoseArenaIsClosed() throws Exception {
        assumeSegments();
        Class<?> arenaType = Class.forName("java.lang.foreign.Arena");
        try (Transport transport = ShmTesting.open("segments")) {
            AutoCloseable arena = (AutoCloseable) arenaType.getMethod("ofConfined").invoke(null);
            Object segment =
                    arenaType
                            .getMethod("allocate", long.class, long.class)
                            .invoke(arena, 1L << 20, 8L);
            OffHeapMemory wrapped = OffHeapMemories.wrap(bytes(segment));
            OffHeapMemory part = OffHeapMemories.part(wrapped, 8, 8);
            wrapped.buffer(0, 8).putLong(0, 42);
            arena.close();
            for (OffHeapMemory each : new OffHeapMemory[] {wrapped, part}) {
                assertThatThrownBy(() -> each.buffer(0, 8))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("arena of the segment was closed");
                assertThatThrownBy(() -> transport.register(each, 0))
                        .isInstanceOf(IllegalStateException.class);
            }
            part.close();
            wrapped.close();
        }
    }

    @Test
    void shouldWrapACallersSegment() throws Exception {
        assumeSegments();
        try (OffHeapMemory owner = SegmentMemories.allocate(64)) {
            Object segment = SegmentMemories.segment(owner, type());
            OffHeapMemory wrapped = SegmentMemories.wrap(segment);
            assertThat(wrapped.address()).isEqualTo(owner.address());
            assertThat(wrapped.length()).isEqualTo(64);
            wrapped.close();
            // It was not freed.
            assertThat(bytes(segment).get(63)).isZero();
        }
    }

    @Test
    void shouldRefuseWhatIsNoNativeSegment() throws Exception {
        assumeSegments();
        Object heap = ofArray(new byte[8]);
        for (Object wrong : new Object[] {heap, "text", null}) {
            assertThatThrownBy(() -> SegmentMemories.wrap(wrong))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not a native, writable, living segment");
        }
        try (OffHeapMemory plain = OffHeapMemories.allocate(8);
                OffHeapMemory memory = SegmentMemories.allocate(8)) {
            assertThatThrownBy(() -> SegmentMemories.segment(plain, type()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> SegmentMemories.segment(memory, String.class))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        assertThatThrownBy(() -> SegmentMemories.allocate(0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReachBeyondTwoGibibytes() throws Exception {
        assumeSegments();
        // --long: a segment of more than 2 GiB
        assumeTrue(Boolean.getBoolean("verbena.long"), "2 GiB of memory; only with --long");
        long length = (2L << 30) + 4096;
        try (OffHeapMemory memory = SegmentMemories.allocate(length)) {
            Object segment = SegmentMemories.segment(memory, type());
            Object last = type().getMethod("asSlice", long.class).invoke(segment, length - 1);
            memory.buffer(length - 1, 1).putByte(0, (byte) 7);
            assertThat(bytes(last).get(0)).isEqualTo((byte) 7);
        }
    }
}
