package dev.verbena.flesnet.source;

import static dev.verbena.flesnet.MicrosliceFlyweight.CRC_VALID;
import static dev.verbena.flesnet.MicrosliceFlyweight.TRUNCATED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.AllocationMeter;
import dev.verbena.agent.Await;
import dev.verbena.flesnet.MicrosliceFlyweight;
import dev.verbena.staging.Checksum;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Random;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Microslices out of datagrams over loopback, and what else may come there. */
@Timeout(60)
class DatagramSourceTest {
    private static final long SILENCE_NS = 1_000_000_000L;
    private static final int BYTES = 64;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(2048);
    private final UnsafeBuffer frame = new UnsafeBuffer(bytes);
    private final MicrosliceFlyweight microslice = new MicrosliceFlyweight();
    private final Checksum checksum = new Checksum();
    private final KeptMicroslices sink = new KeptMicroslices(false);
    private DatagramChannel sender;

    @BeforeEach
    void openSender() throws IOException {
        sender = DatagramChannel.open();
    }

    @AfterEach
    void closeSender() throws IOException {
        sender.close();
    }

    private DatagramSource source(InetAddress from, long count, int gapMax) throws IOException {
        InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        DatagramSource source =
                new DatagramSource(any, from, new DatagramLimits(count, gapMax, SILENCE_NS));
        sender.connect(new InetSocketAddress(any.getAddress(), source.port()));
        return source;
    }

    private void frame(long index) {
        frame.setMemory(32, BYTES, (byte) index);
        microslice
                .wrap(frame, 0)
                .set(7, CRC_VALID, 0xF0, 0, index, checksum.of(frame, 32, BYTES), BYTES);
    }

    private void sendBytes(int length) throws IOException {
        bytes.limit(length).position(0);
        sender.write(bytes);
    }

    private void send(long... indices) throws IOException {
        for (long index : indices) {
            frame(index);
            sendBytes(32 + BYTES);
        }
    }

    private void pollUntil(DatagramSource source, long datagrams) {
        Await.until(
                () -> "take datagrams: " + source.counts(),
                () -> {
                    source.poll(sink, 0);
                    DatagramCounts c = source.counts();
                    return c.taken() + c.malformed() + c.late() + c.beyond() + c.strangers()
                            == datagrams;
                });
    }

    @Test
    void shouldKeepThePlacesOfWhatDoesNotCome() throws IOException {
        try (DatagramSource source = source(null, 12, 5)) {
            send(0, 1, 4, 3, 4, 5);
            pollUntil(source, 6);
            assertThat(source.counts()).isEqualTo(new DatagramCounts(4, 2, 0, 2, 0, 0));
            // Until there has been silence for long enough more may come.
            source.poll(sink, SILENCE_NS);
            assertThat(source.isEnded()).isFalse();
            assertThat(source.nextDueNs()).isEqualTo(SILENCE_NS);
            source.poll(sink, SILENCE_NS + 1);
            assertThat(source.isEnded()).isTrue();
            assertThat(source.counts().missing()).isEqualTo(8);
        }
        assertThat(sink.kept).hasSize(12);
        for (int i = 0; i < 12; i++) {
            boolean isThere = i < 2 || i == 4 || i == 5;
            KeptMicroslices.Kept kept = sink.kept.get(i);
            assertThat(kept.index()).isEqualTo(i);
            assertThat(kept.flags()).isEqualTo(isThere ? CRC_VALID : TRUNCATED);
            assertThat(kept.length()).isEqualTo(isThere ? BYTES : 0);
            assertThat(kept.equipment()).isEqualTo(7);
        }
    }

    @Test
    void shouldDropWhatIsNoMicrosliceOfTheStream() throws IOException {
        try (DatagramSource source = source(null, 1000, 5)) {
            send(0L);
            send(7, 1000, -1, Long.MIN_VALUE, Long.MAX_VALUE);
            send(0L);
            sendBytes(31);
            frame(1);
            sendBytes(32 + BYTES - 1);
            frame.putByte(40, (byte) ~frame.getByte(40));
            sendBytes(32 + BYTES);
            frame(1);
            frame.putByte(0, (byte) 0xDC);
            sendBytes(32 + BYTES);
            frame(1);
            microslice.set(7, 0, 0xF0, 0, 1, 0, -1);
            sendBytes(32 + BYTES);
            send(1L);
            pollUntil(source, 13);
            assertThat(source.counts()).isEqualTo(new DatagramCounts(2, 0, 5, 1, 5, 0));
            assertThat(sink.kept).hasSize(2);
        }
    }

    @Test
    void shouldTakeAnyBytes() throws IOException {
        Random random = new Random(1);
        try (DatagramSource source = source(null, Long.MAX_VALUE, 5)) {
            long sent = 0;
            for (int round = 0; round < 2000; round++) {
                int length = 1 + random.nextInt(200);
                byte[] noise = new byte[length];
                random.nextBytes(noise);
                frame.putBytes(0, noise);
                if (length >= 32 && random.nextBoolean()) {
                    microslice.wrap(frame, 0);
                    microslice.set(7, 0, 0, 0, random.nextInt(20), 0, length - 32);
                }
                sendBytes(length);
                sent++;
                pollUntil(source, sent);
            }
            assertThat(sink.kept).hasSizeLessThan(40);
            assertThat(source.failure()).isNull();
        }
    }

    @Test
    void shouldBelieveOneAddressOnly() throws IOException {
        InetAddress other = InetAddress.getByName("127.0.0.2");
        try (DatagramSource source = source(other, 10, 5)) {
            send(0, 1);
            try (DatagramChannel known = DatagramChannel.open()) {
                known.bind(new InetSocketAddress(other, 0));
                known.connect(new InetSocketAddress("127.0.0.1", source.port()));
                frame(0);
                bytes.limit(32 + BYTES).position(0);
                known.write(bytes);
            }
            pollUntil(source, 3);
            assertThat(source.counts()).isEqualTo(new DatagramCounts(1, 0, 0, 0, 0, 2));
        }
    }

    @Test
    void shouldAllocateNothingPerDatagram() throws IOException {
        KeptMicroslices counting = new KeptMicroslices(true);
        try (DatagramSource source = source(null, Long.MAX_VALUE, 1)) {
            long[] next = new long[1];
            AllocationMeter.requireNoneIn(
                    () -> {
                        long allocated = 0;
                        for (int i = 0; i < 2000; i++) {
                            long until = counting.count + 1;
                            sendUnchecked(next[0]++);
                            allocated +=
                                    AllocationMeter.bytes(
                                            () -> {
                                                while (counting.count < until) {
                                                    source.poll(counting, 0);
                                                }
                                            });
                        }
                        return allocated;
                    });
        }
    }

    private void sendUnchecked(long index) {
        try {
            send(index);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
