package dev.verbena.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.softnic.NativeAccess;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RemoteDescriptorTest {
    private static final int CRC_OFFSET = 44;

    private final UnsafeBuffer buffer;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();

    RemoteDescriptorTest() {
        buffer = new UnsafeBuffer(new byte[3 + RemoteDescriptor.LENGTH + 5]);
    }

    @BeforeAll
    static void openNativeAccess() {
        NativeAccess.open();
    }

    @Test
    void shouldTravelAsFortyEightBytesAndComeBackTheSame() {
        descriptor.set(RemoteDescriptor.KIND_SHM, 3, 0x80000001, -8, Long.MAX_VALUE, 5, -6);
        descriptor.encode(buffer, 3);
        RemoteDescriptor back = new RemoteDescriptor().decode(buffer, 3);
        assertThat(back.kind()).isEqualTo(RemoteDescriptor.KIND_SHM);
        assertThat(back.rights()).isEqualTo(3);
        assertThat(back.generation()).isEqualTo(0x80000001);
        assertThat(back.base()).isEqualTo(-8);
        assertThat(back.length()).isEqualTo(Long.MAX_VALUE);
        assertThat(back.keyLow()).isEqualTo(5);
        assertThat(back.keyHigh()).isEqualTo(-6);
        for (int i = 0; i < 5; i++) {
            assertThat(buffer.getByte(3 + RemoteDescriptor.LENGTH + i)).isZero();
        }
    }

    @Test
    void shouldHaveTheLayoutThatIsDocumented() {
        descriptor.set(2, 0x0102, 0x11223344, 0x5566, 0x77, 0x88, 0x99).encode(buffer, 0);
        assertThat(buffer.getByte(0)).isEqualTo((byte) RemoteDescriptor.VERSION);
        assertThat(buffer.getByte(1)).isEqualTo((byte) 2);
        assertThat(buffer.getShort(2, ByteOrder.LITTLE_ENDIAN)).isEqualTo((short) 0x0102);
        assertThat(buffer.getInt(4, ByteOrder.LITTLE_ENDIAN)).isEqualTo(0x11223344);
        assertThat(buffer.getLong(8, ByteOrder.LITTLE_ENDIAN)).isEqualTo(0x5566);
        assertThat(buffer.getLong(16, ByteOrder.LITTLE_ENDIAN)).isEqualTo(0x77);
        assertThat(buffer.getLong(24, ByteOrder.LITTLE_ENDIAN)).isEqualTo(0x88);
        assertThat(buffer.getLong(32, ByteOrder.LITTLE_ENDIAN)).isEqualTo(0x99);
        assertThat(buffer.getInt(40)).isZero();
    }

    @Test
    void shouldRefuseEverySingleBitFlip() {
        descriptor.set(1, 7, 9, 4096, 1 << 20, 1, 2).encode(buffer, 0);
        for (int bit = 0; bit < RemoteDescriptor.LENGTH * 8; bit++) {
            flip(bit);
            assertThatThrownBy(() -> new RemoteDescriptor().decode(buffer, 0))
                    .as("bit %d", bit)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("remote descriptor: ");
            flip(bit);
        }
        new RemoteDescriptor().decode(buffer, 0);
    }

    @Test
    void shouldRefuseNegativeLengthThoughTheCrcIsRight() {
        descriptor.set(1, 7, 9, 4096, 1, 1, 2).encode(buffer, 0);
        buffer.putLong(16, -1, ByteOrder.LITTLE_ENDIAN);
        seal();
        assertThatThrownBy(() -> new RemoteDescriptor().decode(buffer, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("length -1 is negative");
    }

    @Test
    void shouldRefuseReservedBytesThoughTheCrcIsRight() {
        descriptor.set(1, 7, 9, 4096, 1, 1, 2).encode(buffer, 0);
        buffer.putByte(42, (byte) 1);
        seal();
        assertThatThrownBy(() -> new RemoteDescriptor().decode(buffer, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("reserved");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 255})
    void shouldRefuseAnotherVersionByName(int version) {
        descriptor.set(1, 7, 9, 4096, 1, 1, 2).encode(buffer, 0);
        buffer.putByte(0, (byte) version);
        seal();
        assertThatThrownBy(() -> new RemoteDescriptor().decode(buffer, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("version " + version);
    }

    @Test
    @Tag("seeded")
    void shouldNeverTakeRandomBytes() {
        long seed = Long.getLong("verbena.seed", 1);
        Random random = new Random(seed);
        byte[] bytes = new byte[RemoteDescriptor.LENGTH];
        // --long: 2,000,000 random descriptors instead of 100,000
        int rounds = Boolean.getBoolean("verbena.long") ? 2_000_000 : 100_000;
        for (int i = 0; i < rounds; i++) {
            random.nextBytes(bytes);
            bytes[0] = RemoteDescriptor.VERSION;
            buffer.putBytes(0, bytes);
            try {
                new RemoteDescriptor().decode(buffer, 0);
                throw new AssertionError("seed " + seed + ": round " + i + " was taken");
            } catch (IllegalArgumentException e) {
                assertThat(e).hasMessageContaining("CRC");
            }
        }
    }

    @Test
    void shouldEncodeAndDecodeWithoutGarbage() {
        RemoteDescriptor back = new RemoteDescriptor();
        descriptor.set(1, 7, 9, 4096, 1, 1, 2);
        long[] sum = new long[1];
        long runs = AllocationMeter.requireNone(() -> sum[0] += rounds(back, 100_000));
        assertThat(sum[0]).isEqualTo(runs * 100_000 * descriptor.base());
    }

    private long rounds(RemoteDescriptor back, int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            descriptor.encode(buffer, 0);
            sum += back.decode(buffer, 0).base();
        }
        return sum;
    }

    private void flip(int bit) {
        buffer.putByte(bit / 8, (byte) (buffer.getByte(bit / 8) ^ 1 << bit % 8));
    }

    private void seal() {
        byte[] bytes = new byte[CRC_OFFSET];
        buffer.getBytes(0, bytes);
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, CRC_OFFSET);
        buffer.putInt(CRC_OFFSET, (int) crc.getValue(), ByteOrder.LITTLE_ENDIAN);
    }
}
