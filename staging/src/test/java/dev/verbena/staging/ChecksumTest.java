package dev.verbena.staging;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

class ChecksumTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static int expected(byte[] bytes, int from, int to) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, to - from);
        return (int) crc.getValue();
    }

    @Test
    void shouldBeTheSameWhereverTheBytesLie() {
        SplittableRandom random = new SplittableRandom(1);
        byte[] bytes = new byte[200_000];
        random.nextBytes(bytes);
        UnsafeBuffer heap = new UnsafeBuffer(bytes);
        UnsafeBuffer inHeapBuffer = new UnsafeBuffer(ByteBuffer.wrap(bytes));
        UnsafeBuffer direct = new UnsafeBuffer(ByteBuffer.allocateDirect(bytes.length));
        direct.putBytes(0, bytes);
        UnsafeBuffer byAddress = new UnsafeBuffer(direct.addressOffset(), bytes.length);
        Checksum checksum = new Checksum();
        for (int i = 0; i < 200; i++) {
            int from = random.nextInt(bytes.length);
            int to = from + random.nextInt(bytes.length - from + 1);
            int expected = expected(bytes, from, to);
            for (UnsafeBuffer each :
                    new UnsafeBuffer[] {heap, inHeapBuffer, direct, byAddress, heap}) {
                assertThat(checksum.of(each, from, to - from)).isEqualTo(expected);
            }
        }
    }

    @Test
    void shouldCombineWhatWasSummedUpApart() {
        SplittableRandom random = new SplittableRandom(2);
        byte[] bytes = new byte[70_000];
        random.nextBytes(bytes);
        Checksum whole = new Checksum();
        for (int i = 0; i < 500; i++) {
            int middle = random.nextInt(bytes.length);
            int end = middle + random.nextInt(bytes.length - middle + 1);
            int later = end + random.nextInt(bytes.length - end + 1);
            whole.reset()
                    .append(expected(bytes, 0, middle), middle)
                    .update(bytes, middle, end - middle)
                    .append(expected(bytes, end, later), later - end);
            assertThat(whole.value()).isEqualTo(expected(bytes, 0, later));
        }
        assertThat(whole.reset().value()).isZero();
        assertThat(whole.append(0, 0).value()).isZero();
    }

    @Test
    void shouldCombineOverGibibytes() {
        // Against the definition: zeros behind, one byte at a time, doubled by combining.
        int crc = expected(new byte[] {1, 2, 3}, 0, 3);
        int zeros = expected(new byte[1024], 0, 1024);
        long length = 1024;
        int byHalves = zeros;
        while (length < 1L << 33) {
            byHalves = Checksum.combine(byHalves, byHalves, length);
            length *= 2;
        }
        int atOnce = Checksum.combine(crc, byHalves, length);
        int half = byHalvesOf(zeros, length / 2);
        int inTwo = Checksum.combine(Checksum.combine(crc, half, length / 2), half, length / 2);
        assertThat(atOnce).isEqualTo(inTwo);
    }

    private static int byHalvesOf(int zeros, long wanted) {
        int result = zeros;
        for (long length = 1024; length < wanted; length *= 2) {
            result = Checksum.combine(result, result, length);
        }
        return result;
    }
}
