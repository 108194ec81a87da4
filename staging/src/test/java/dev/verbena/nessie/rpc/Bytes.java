package dev.verbena.nessie.rpc;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** A variable opaque of up to 128 MiB; its encoded length is given. */
class Bytes implements XdrValue {
    byte[] value;

    Bytes() {
        this(0);
    }

    /** Encoded in so many bytes, at least 4. */
    Bytes(int encodedLength) {
        value = new byte[Math.max(0, encodedLength - 4)];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) (i * 31 + i / 255 + encodedLength);
        }
    }

    @Override
    public int encodedLength() {
        return 4 + (value.length + 3 & ~3);
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.putInt(index, value.length, BIG_ENDIAN);
        buffer.putBytes(index + 4, value);
        return encodedLength();
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        int length = limit - index < 4 ? -1 : buffer.getInt(index, BIG_ENDIAN);
        if (length < 0 || length > limit - index - 4) {
            throw new XdrException("opaque of " + length + " bytes");
        }
        if (value.length != length) {
            value = new byte[length];
        }
        buffer.getBytes(index + 4, value);
        return encodedLength();
    }
}
