package dev.verbena.dart.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.dart.DartException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class FrameFlyweightTest {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
    private final FrameFlyweight frame = new FrameFlyweight();

    // Both computed by an independent program from the table of the format.
    @Test
    @Tag("dart-D33")
    @Timeout(60)
    void shouldEncodeGoldenHello() {
        buffer.putLong(48, 0x0102030405060708L, BIG_ENDIAN);
        buffer.putLong(56, 0x1112131415161718L, BIG_ENDIAN);
        buffer.putInt(64, 3, BIG_ENDIAN);
        buffer.putLong(68, 0x1000000, BIG_ENDIAN);
        buffer.putLong(76, 42, BIG_ENDIAN);
        frame.begin(buffer, 0, FrameFlyweight.HELLO).end(buffer, 48, FrameFlyweight.HELLO_LENGTH);
        assertThat(hex(84))
                .isEqualTo(
                        "44525431010100000000000000000000000000000000000000000000000000000000000"
                                + "000000000000000240225bf2b01020304050607081112131415161718000000030000"
                                + "000001000000000000000000002a");
    }

    @Test
    @Tag("dart-D33")
    @Timeout(60)
    void shouldEncodeGoldenData() {
        UnsafeBuffer payload = new UnsafeBuffer("DART data".getBytes(StandardCharsets.US_ASCII));
        frame.begin(buffer, 0, FrameFlyweight.DATA)
                .flags(FrameFlyweight.FIRST | FrameFlyweight.FILE_BEGIN)
                .sequence(43)
                .message(7, 5, 99, 0)
                .end(payload, 0, 9);
        buffer.putBytes(48, payload, 0, 9);
        assertThat(hex(57))
                .isEqualTo(
                        "4452543101030005000000000000002b000000070000006300000000000000050000000"
                                + "00000000000000009aacd66c5444152542064617461");
        frame.wrap(buffer, 0).check();
        assertThat(frame.isIntact(buffer, 48)).isTrue();
        assertThat(frame.sequence()).isEqualTo(43);
        assertThat(frame.clientId()).isEqualTo(7);
        assertThat(frame.messageSequence()).isEqualTo(5);
        assertThat(frame.tag()).isEqualTo(99);
    }

    private String hex(int length) {
        byte[] bytes = new byte[length];
        buffer.getBytes(0, bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @Property(tries = 2000)
    void shouldSeeEveryFlippedBit(@ForAll @IntRange(max = 57 * 8 - 1) int bit) {
        shouldEncodeGoldenData();
        buffer.putByte(bit / 8, (byte) (buffer.getByte(bit / 8) ^ 1 << bit % 8));
        boolean isSeen;
        try {
            isSeen = frame.wrap(buffer, 0).payloadLength() != 9 || !frame.isIntact(buffer, 48);
        } catch (DartException e) {
            isSeen = e.code() == DartException.Code.MALFORMED;
        }
        assertThat(isSeen).isTrue();
    }

    /** Whatever the bytes: a payload length in bounds, or MALFORMED; nothing else. */
    @Property(tries = 5000)
    void shouldNeverFailOtherwiseOnHostileBytes(
            @ForAll @Size(48) byte[] bytes, @ForAll boolean isMagic) {
        UnsafeBuffer hostile = new UnsafeBuffer(bytes);
        if (isMagic) {
            hostile.putInt(0, FrameFlyweight.MAGIC, BIG_ENDIAN);
            hostile.putByte(4, (byte) 1);
            hostile.putByte(5, (byte) (1 + (hostile.getByte(5) & 0xFF) % 9));
        }
        try {
            frame.wrap(hostile, 0);
            assertThat(frame.payloadLength()).isBetween(0, FrameFlyweight.PAYLOAD_MAX);
            frame.check();
        } catch (DartException e) {
            assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED);
        }
    }
}
