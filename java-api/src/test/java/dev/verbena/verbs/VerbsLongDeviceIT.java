package dev.verbena.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.Turns;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * One registration of 3 GiB: its lower half is written to its upper half, and read back from there
 * to another place of the lower half, so that source and target lie on both sides of 2 GiB. Every
 * byte that was transferred is compared. With {@code VERBENA_LONG=1} that is all of it, 3 GiB,
 * which takes minutes on an emulated processor; otherwise every 96th piece.
 */
@Tag("verbs-device")
@Timeout(300)
class VerbsLongDeviceIT {
    private static final long LENGTH = 3L << 30;
    private static final long HALF = LENGTH / 2;
    private static final int PIECE = 4 << 20;
    private static final int BATCH = 16;
    private static final int PIECES = (int) (HALF / PIECE);
    // --long: every piece of 3 GiB over a device, instead of every 96th
    private static final int STEP = "1".equals(System.getenv("VERBENA_LONG")) ? 1 : 96;
    private static final long NEEDED_BYTES = LENGTH + (600L << 20);

    private RdmaDevice device;

    @BeforeEach
    void open() {
        device = RealDevice.open();
        Turns.assume("registration", "registration", "offsets");
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private static long availableBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/meminfo"))) {
            if (line.startsWith("MemAvailable:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        return 0;
    }

    /**
     * What stands in a piece: the same bytes, but for the piece's and page's number in each page.
     */
    private static void fill(byte[] bytes, int piece) {
        UnsafeBuffer view = new UnsafeBuffer(bytes);
        for (int page = 0; page < PIECE; page += 4096) {
            view.putInt(page + 4, piece * 1_000_003 + page);
        }
    }

    private static byte[] pattern() {
        byte[] bytes = new byte[PIECE];
        long next = 42;
        for (int i = 0; i < PIECE; i++) {
            next = next * 6364136223846793005L + 1442695040888963407L;
            bytes[i] = (byte) (next >>> 56);
        }
        return bytes;
    }

    @Test
    void shouldTransferThreeGibibytesOfOneRegistration() throws Exception {
        assumeTrue(
                availableBytes() > NEEDED_BYTES,
                "3.6 GiB of free memory are needed: ./verbena rdma-vm --memory 5G");
        try (RealPair pair = new RealPair(device, QueuePairType.RC).connect();
                OffHeapMemory memory = OffHeapMemories.allocate(LENGTH);
                MemoryRegion region = pair.domain.register(memory, Access.REMOTE_ALL)) {
            assertThat(region.length()).isEqualTo(LENGTH);
            byte[] expected = pattern();
            for (int i = 0; i < PIECES; i += STEP) {
                fill(expected, i);
                region.buffer((long) i * PIECE, PIECE).putBytes(0, expected);
            }
            transfer(pair, region, true);
            transfer(pair, region, false);
            byte[] received = new byte[PIECE];
            for (int i = 0; i < PIECES; i += STEP) {
                fill(expected, i);
                assertPiece(region, HALF + (long) i * PIECE, expected, received);
                assertPiece(region, turned(i), expected, received);
            }
        }
    }

    /** Where a piece lies in the lower half after it came back: one piece further on. */
    private static long turned(int piece) {
        return (long) ((piece + 1) % PIECES) * PIECE;
    }

    private static void assertPiece(
            MemoryRegion region, long offset, byte[] expected, byte[] received) {
        region.buffer(offset, PIECE).getBytes(0, received);
        assertThat(Arrays.mismatch(received, expected)).as("from %d on", offset).isEqualTo(-1);
    }

    private static void transfer(RealPair pair, MemoryRegion region, boolean isWrite) {
        int pieces = (PIECES + STEP - 1) / STEP;
        for (int from = 0; from < pieces; from += BATCH) {
            int count = Math.min(BATCH, pieces - from);
            for (int i = 0; i < count; i++) {
                int piece = (from + i) * STEP;
                long upper = region.remoteAddress(HALF + (long) piece * PIECE);
                SendRequestFlyweight request = pair.sends.at(i).id(piece).signalled(i == count - 1);
                if (isWrite) {
                    request.segment(region, (long) piece * PIECE, PIECE)
                            .write(upper, region.remoteKey());
                } else {
                    request.segment(region, turned(piece), PIECE).read(upper, region.remoteKey());
                }
            }
            assertThat(pair.a.post(pair.sends, 0, count)).isEqualTo(count);
            CompletionFlyweight last = pair.next(pair.completionsA);
            assertThat(last.isSuccess()).isTrue();
            assertThat(last.id()).isEqualTo((from + count - 1L) * STEP);
        }
    }
}
