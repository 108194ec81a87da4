package dev.verbena.memory.chronicle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.shm.ShmTesting;
import dev.verbena.transport.Transport;
import java.nio.BufferOverflowException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.bytes.BytesStore;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ChronicleViewsTest {
    private static final int LENGTH = 4096;

    @BeforeAll
    static void requireChronicle() {
        String cause = ChronicleViews.unavailabilityCause();
        Assumptions.assumeTrue(cause == null, () -> cause);
    }

    @Test
    void shouldShareTheBytesOfARegion() {
        try (Transport transport = ShmTesting.open("chronicle");
                RegisteredRegion region = transport.allocate(LENGTH, 0)) {
            UnsafeBuffer window = region.buffer(0, LENGTH);
            BytesStore<?, Void> view = ChronicleViews.view(region);
            assertThat(view.capacity()).isEqualTo(LENGTH);
            view.writeLong(9, 42).writeInt(17, -7).writeShort(21, (short) 3);
            view.writeDouble(32, 2.5).writeFloat(40, 1.5f).writeByte(44, (byte) 9);
            assertThat(window.getLong(9)).isEqualTo(42);
            assertThat(window.getInt(17)).isEqualTo(-7);
            assertThat(window.getShort(21)).isEqualTo((short) 3);
            window.putDouble(32, 3.5);
            assertThat(view.readDouble(32)).isEqualTo(3.5);
            assertThat(view.readFloat(40)).isEqualTo(1.5f);
            assertThat(view.readByte(44)).isEqualTo((byte) 9);
            view.writeOrderedLong(64, 5);
            assertThat(view.readVolatileLong(64)).isEqualTo(5);
            assertThat(view.compareAndSwapLong(64, 5, 6)).isTrue();
            assertThat(view.addAndGetLong(64, 10)).isEqualTo(16);
            assertThat(window.getLong(64)).isEqualTo(16);
        }
    }

    @Test
    void shouldRegisterStoresOfChroniclesOwn() {
        Bytes<Void> bytes = Bytes.allocateElasticDirect(LENGTH);
        bytes.writeLong(42);
        BytesStore<?, ?> store = bytes.bytesStore();
        int users = store.refCount();
        try (Transport transport = ShmTesting.open("chronicle")) {
            OffHeapMemory memory = ChronicleViews.memory(bytes);
            assertThat(memory.length()).isEqualTo(store.capacity());
            RegisteredRegion region = transport.register(memory, 0);
            region.buffer(8, 8).putLong(0, 43);
            assertThat(region.buffer(0, 8).getByte(0)).isEqualTo((byte) 42);
            bytes.releaseLast();
            assertThat(store.readLong(8)).isEqualTo(43);
            assertThatThrownBy(memory::close).isInstanceOf(IllegalStateException.class);
            region.close();
            assertThat(store.refCount()).isEqualTo(users);
            memory.close();
            assertThat(store.refCount()).isZero();
        }
    }

    /** Their capacity says what they might grow to. */
    @Test
    void shouldRegisterOfElasticBytesNoMoreThanThereIs() {
        Bytes<Void> whole = Bytes.allocateElasticDirect(LENGTH);
        whole.write(new byte[100]);
        BytesStore<?, ?> part = whole.subBytes(8, 16);
        try (OffHeapMemory memory = ChronicleViews.memory(part)) {
            assertThat(memory.length()).isEqualTo(16);
        }
        whole.releaseLast();
    }

    @Test
    void shouldRefuseStoresThatCannotBeRegistered() {
        refused(() -> ChronicleViews.memory(BytesStore.wrap(new byte[8])));
        refused(() -> ChronicleViews.memory(BytesStore.empty()));
        try (OffHeapMemory memory = OffHeapMemories.allocate(LENGTH)) {
            refused(() -> ChronicleViews.memory(ChronicleViews.view(memory)));
        }
    }

    private static void refused(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldReadAndWriteWithACursor() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(LENGTH)) {
            BytesStore<?, Void> view = ChronicleViews.view(memory);
            Bytes<Void> out = view.bytesForWrite();
            out.writeLong(7).writeUtf8("héllo wörld").write8bit("plain").append(-12345).append(' ');
            out.append(2.5).append(' ');
            out.writeStopBit(1 << 20).write(new byte[] {1, 2, 3});
            out.writeSome(ByteBuffer.wrap(new byte[] {4, 5, 6, 7, 8, 9, 10, 11, 12}));
            Bytes<Void> in = view.bytesForRead();
            assertThat(in.readLong()).isEqualTo(7);
            assertThat(in.readUtf8()).isEqualTo("héllo wörld");
            assertThat(in.read8bit()).isEqualTo("plain");
            assertThat(in.parseLong()).isEqualTo(-12345);
            assertThat(in.parseDouble()).isEqualTo(2.5);
            assertThat(in.readStopBit()).isEqualTo(1 << 20);
            byte[] rest = new byte[12];
            assertThat(in.read(rest)).isEqualTo(12);
            assertThat(rest).containsExactly(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
        }
    }

    @Test
    void shouldCopyToAndFromChroniclesOwnStores() {
        byte[] data = new byte[1000];
        new java.util.Random(1).nextBytes(data);
        try (OffHeapMemory memory = OffHeapMemories.allocate(1000)) {
            BytesStore<?, Void> view = ChronicleViews.view(memory);
            BytesStore<?, ?> own = BytesStore.nativeStore(1000);
            own.write(0, data);
            view.write(0, own, 0, 1000);
            assertThat(memory.buffer(0, 1000).compareTo(new UnsafeBuffer(data))).isZero();
            own.zeroOut(0, 1000);
            assertThat(view.copyTo(own)).isEqualTo(1000);
            assertThat(view.contentEquals(own)).isTrue();
            view.move(0, 3, 500);
            byte[] moved = new byte[500];
            view.read(3, moved, 0, 500);
            assertThat(moved).isEqualTo(java.util.Arrays.copyOf(data, 500));
            view.zeroOut(0, 1000);
            assertThat(view.byteCheckSum()).isZero();
            own.releaseLast();
        }
    }

    /** Pages that nobody touches are not there: the memory costs address space only. */
    @Test
    void shouldViewARegionAboveTwoGibibytes() {
        long length = (5L << 30) + 3;
        try (Transport transport = ShmTesting.open("chronicle");
                OffHeapMemory memory = OffHeapMemories.allocate(length)) {
            try (RegisteredRegion region =
                    transport.register(memory, RemoteDescriptor.REMOTE_ALL)) {
                BytesStore<?, Void> view = ChronicleViews.view(region);
                assertThat(view.capacity()).isEqualTo(length);
                long last = length - Long.BYTES;
                view.writeLong(last, 77);
                assertThat(region.buffer(last, 8).getLong(0)).isEqualTo(77);
                Bytes<Void> bytes = view.bytesForRead();
                assertThat(bytes.readRemaining()).isEqualTo(length);
                assertThat(bytes.readPosition(last).readLong()).isEqualTo(77);
                region.buffer(3L << 30, 4).putInt(0, 5);
                assertThat(view.readInt(3L << 30)).isEqualTo(5);
                assertThat(view.readInt((3L << 30) & Integer.MAX_VALUE)).isZero();
            }
        }
    }

    @Test
    void shouldThrowOutsideTheMemory() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(LENGTH)) {
            BytesStore<?, Void> view = ChronicleViews.view(memory);
            for (long at : new long[] {LENGTH - 7, LENGTH, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
                assertThatThrownBy(() -> view.readLong(at))
                        .isInstanceOf(BufferUnderflowException.class)
                        .hasMessageContaining("offset " + at);
                assertThatThrownBy(() -> view.writeLong(at, 1))
                        .isInstanceOf(BufferOverflowException.class);
                assertThatThrownBy(() -> view.compareAndSwapLong(at, 0, 1))
                        .isInstanceOf(RuntimeException.class);
                assertThatThrownBy(() -> view.write(at, new byte[8]))
                        .isInstanceOf(RuntimeException.class);
                assertThatThrownBy(() -> view.move(at, 0, 8)).isInstanceOf(RuntimeException.class);
            }
            assertThatThrownBy(() -> view.write(0, new byte[8], 1, 8))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> view.move(0, 0, -1)).isInstanceOf(RuntimeException.class);
            Bytes<Void> bytes = view.bytesForWrite();
            bytes.writePosition(LENGTH - 4);
            assertThatThrownBy(() -> bytes.writeLong(1)).isInstanceOf(RuntimeException.class);
            assertThatThrownBy(() -> view.addressForRead(0))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void shouldThrowAfterTheRegionWasClosed() {
        try (Transport transport = ShmTesting.open("chronicle")) {
            RegisteredRegion region = transport.allocate(LENGTH, 0);
            BytesStore<?, Void> view = ChronicleViews.view(region);
            Bytes<Void> reader = view.bytesForRead();
            Bytes<Void> writer = view.bytesForWrite();
            view.writeLong(0, 1);
            region.close();
            byte[] array = new byte[8];
            ThrowingCallable[] accesses = {
                () -> view.readByte(0),
                () -> view.readLong(0),
                () -> view.readVolatileInt(0),
                () -> view.writeLong(0, 1),
                () -> view.writeOrderedInt(0, 1),
                () -> view.compareAndSwapInt(0, 0, 1),
                () -> view.move(0, 8, 8),
                () -> view.zeroOut(0, 8),
                () -> view.read(0, array, 0, 8),
                () -> view.write(0, array, 0, 8),
                () -> view.write8bit(0, "x", 0, 1),
                reader::readLong,
                reader::readUtf8,
                () -> writer.writeLong(1),
                () -> writer.append("text"),
                () -> ChronicleViews.view(region),
            };
            for (int i = 0; i < accesses.length; i++) {
                assertThatThrownBy(accesses[i])
                        .as("access %d", i)
                        .isInstanceOf(RuntimeException.class)
                        .hasMessageContaining("closed");
            }
        }
    }

    @Test
    void shouldThrowAfterItsOwnRelease() {
        try (OffHeapMemory memory = OffHeapMemories.allocate(LENGTH)) {
            BytesStore<?, Void> view = ChronicleViews.view(memory);
            view.releaseLast();
            assertThatThrownBy(() -> view.readLong(0)).isInstanceOf(IllegalStateException.class);
            memory.buffer(0, 8).putLong(0, 1);
        }
    }
}
