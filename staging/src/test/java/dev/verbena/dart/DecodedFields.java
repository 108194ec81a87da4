package dev.verbena.dart;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.dart.wire.FrameFlyweight;
import java.nio.ByteOrder;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/** A record in memory whose fields take one value after the other: which are taken, which not. */
abstract class DecodedFields {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    static final UUID JOB = new UUID(0x0102030405060708L, 0x1112131415161718L);
    static final long MAX = Long.MAX_VALUE;
    static final long NUMBER_MAX = FrameFlyweight.NUMBER_MAX;
    static final int AT = 8;

    /** Takes what is in the buffer, or throws. */
    interface Decoder {
        void decode();
    }

    final UnsafeBuffer buffer = new UnsafeBuffer(new byte[4096]);
    ByteOrder order = LITTLE_ENDIAN;
    Decoder decoder;

    void put(int offset, int size, long value) {
        switch (size) {
            case 1 -> buffer.putByte(AT + offset, (byte) value);
            case 2 -> buffer.putShort(AT + offset, (short) value, order);
            case 4 -> buffer.putInt(AT + offset, (int) value, order);
            default -> buffer.putLong(AT + offset, value, order);
        }
    }

    private static boolean isOfSize(int size, long value) {
        return size == 8 || value >= -1L << 8 * size - 1 && value < 1L << 8 * size - 1;
    }

    void taken(int offset, int size, long value) {
        byte[] before = buffer.byteArray().clone();
        put(offset, size, value);
        decoder.decode();
        buffer.putBytes(0, before);
    }

    void refused(int offset, int size, long value) {
        byte[] before = buffer.byteArray().clone();
        put(offset, size, value);
        assertThatThrownBy(decoder::decode)
                .as("%d at offset %d", value, offset)
                .isInstanceOfSatisfying(
                        DartException.class,
                        e -> assertThat(e.code()).isEqualTo(DartException.Code.MALFORMED));
        buffer.putBytes(0, before);
    }

    /** The values next to both ends, as far as the field holds them. */
    void bounds(int offset, int size, long min, long max) {
        taken(offset, size, min);
        taken(offset, size, max);
        if (min != Long.MIN_VALUE && isOfSize(size, min - 1)) {
            refused(offset, size, min - 1);
        }
        if (max != MAX && isOfSize(size, max + 1)) {
            refused(offset, size, max + 1);
        }
    }
}
