package dev.verbena.dart;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/** CRC-32C over Agrona buffers, reusable without allocation. One thread. */
final class Checksum {
    private static final int PIECE = 32 * 1024;

    private final CRC32C crc = new CRC32C();
    private byte[] scratch = new byte[128];

    Checksum reset() {
        crc.reset();
        return this;
    }

    Checksum update(byte[] bytes, int offset, int length) {
        crc.update(bytes, offset, length);
        return this;
    }

    /** A heap array is read in place; anything else goes through a cache-sized copy. */
    Checksum update(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        byte[] array = buffer.byteArray();
        ByteBuffer none = buffer.byteBuffer();
        if (array != null && none == null) {
            crc.update(array, buffer.wrapAdjustment() + offset, length);
            return this;
        }
        if (scratch.length < PIECE && length > scratch.length) {
            scratch = new byte[PIECE];
        }
        for (int done = 0; done < length; ) {
            int piece = Math.min(scratch.length, length - done);
            buffer.getBytes(offset + done, scratch, 0, piece);
            crc.update(scratch, 0, piece);
            done += piece;
        }
        return this;
    }

    int value() {
        return (int) crc.getValue();
    }

    /** Of one range. */
    int of(DirectBuffer buffer, int offset, int length) {
        return reset().update(buffer, offset, length).value();
    }
}
