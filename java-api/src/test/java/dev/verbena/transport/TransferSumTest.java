package dev.verbena.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.AllocationMeter;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.shm.ShmTesting;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sums that are read from the region because the transport took none. */
@Timeout(60)
class TransferSumTest {
    private static final int LENGTH = 10_000;

    private static int expected(byte[] bytes, int from, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, from, length);
        return (int) crc.getValue();
    }

    @Test
    void shouldReadAcrossItsWindows() {
        byte[] bytes = new byte[LENGTH];
        Random random = new Random(5);
        random.nextBytes(bytes);
        try (Transport transport = ShmTesting.open("sum");
                RegisteredRegion region = transport.allocate(LENGTH, 0)) {
            region.buffer(0, LENGTH).putBytes(0, bytes);
            TransferSum sum = new TransferSum(1024);
            assertThat(sum.value()).isZero();
            for (int i = 0; i < 300; i++) {
                int from = random.nextInt(LENGTH);
                int length = random.nextInt(LENGTH - from + 1);
                sum.begin(region, from, length);
                assertThat(sum.length()).isEqualTo(length);
                assertThat(sum.value()).isEqualTo(expected(bytes, from, length));
            }
            sum.known(7);
            assertThat(sum.value()).isEqualTo(7);
        }
    }

    @Test
    void shouldRefuseToReadARegionThatIsClosed() {
        try (Transport transport = ShmTesting.open("sum")) {
            RegisteredRegion region = transport.allocate(LENGTH, 0);
            TransferSum sum = new TransferSum();
            sum.begin(region, 0, 10);
            region.close();
            assertThatThrownBy(sum::value).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldAllocateNothingForARegionThatItKnows() {
        try (Transport transport = ShmTesting.open("sum");
                RegisteredRegion region = transport.allocate(LENGTH, 0)) {
            TransferSum sum = new TransferSum();
            long[] total = new long[1];
            AllocationMeter.requireNone(
                    () -> {
                        for (int i = 0; i < 100_000; i++) {
                            sum.begin(region, i % 1000, 100);
                            total[0] += sum.value();
                        }
                    });
        }
    }
}
