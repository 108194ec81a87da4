package dev.verbena.dart.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartWorld;
import java.util.SplittableRandom;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PieceFlyweightTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[PieceFlyweight.LENGTH_MAX]);
    private final PieceFlyweight piece = new PieceFlyweight();

    @Test
    void shouldReadWhatItWrote() {
        byte[] message = DartWorld.bytes(PieceFlyweight.PAYLOAD_MAX + 100, 1).byteArray();
        assertThat(PieceFlyweight.count(message.length)).isEqualTo(2);
        int length =
                piece.encode(buffer, 0, 77, PieceFlyweight.DATA, -5, message, message.length - 100);
        assertThat(length).isEqualTo(PieceFlyweight.HEADER_LENGTH + 100);
        PieceFlyweight read = new PieceFlyweight();
        assertThat(read.wrap(buffer, 0, length)).isNull();
        assertThat(read.number()).isEqualTo(77);
        assertThat(read.kind()).isEqualTo(PieceFlyweight.DATA);
        assertThat(read.type()).isEqualTo(-5);
        assertThat(read.messageLength()).isEqualTo(message.length);
        assertThat(read.position()).isEqualTo(message.length - 100);
        assertThat(read.payloadLength()).isEqualTo(100);
        assertThat(buffer.getByte(read.payloadOffset())).isEqualTo(message[message.length - 100]);
    }

    @Test
    void shouldRefuseEveryFlippedBit() {
        int length =
                piece.encode(
                        buffer,
                        0,
                        1,
                        PieceFlyweight.DATA,
                        0,
                        DartWorld.bytes(200, 2).byteArray(),
                        0);
        for (int bit = 0; bit < 8 * length; bit++) {
            byte before = buffer.getByte(bit / 8);
            buffer.putByte(bit / 8, (byte) (before ^ 1 << bit % 8));
            assertThat(piece.wrap(buffer, 0, length)).as("bit " + bit).isNotNull();
            buffer.putByte(bit / 8, before);
        }
        assertThat(piece.wrap(buffer, 0, length)).isNull();
        assertThat(piece.wrap(buffer, 0, length - 1)).isNotNull();
    }

    @Test
    void shouldNeverReadPastTheEndWhateverTheBytes() {
        SplittableRandom random = new SplittableRandom(3);
        for (int i = 0; i < 20_000; i++) {
            piece.encode(buffer, 0, 1, PieceFlyweight.DATA, 0, new byte[50], 0);
            for (int changes = random.nextInt(4); changes >= 0; changes--) {
                buffer.putInt(4 * random.nextInt(10), random.nextInt());
            }
            assertThat(piece.wrap(buffer, 0, random.nextInt(200))).isNotNull();
        }
    }
}
