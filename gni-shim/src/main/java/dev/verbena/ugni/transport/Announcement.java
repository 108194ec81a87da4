package dev.verbena.ugni.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What a transport tells of itself in a datagram, {@value #LENGTH} bytes, little-endian.
 *
 * <pre>
 * offset size field
 *  0     4   magic
 *  4     4   version (1)
 *  8     8   incarnation
 * 16     8   address of the control mailbox
 * 24    16   its memory handle
 * 40    64   name, padded with zeros
 * </pre>
 */
final class Announcement {
    static final int LENGTH = 104;
    static final int NAME_LENGTH = 64;

    private static final int MAGIC = 0x44_49_4E_47;
    private static final int VERSION = 1;
    private static final int VERSION_OFFSET = 4;
    private static final int INCARNATION_OFFSET = 8;
    private static final int CONTROL_OFFSET = 16;
    private static final int LOW_OFFSET = 24;
    private static final int HIGH_OFFSET = 32;
    private static final int NAME_OFFSET = 40;

    private Announcement() {}

    static void write(
            UnsafeBuffer buffer, long incarnation, long control, long low, long high, String name) {
        buffer.putInt(0, MAGIC, LITTLE_ENDIAN);
        buffer.putInt(VERSION_OFFSET, VERSION, LITTLE_ENDIAN);
        buffer.putLong(INCARNATION_OFFSET, incarnation, LITTLE_ENDIAN);
        buffer.putLong(CONTROL_OFFSET, control, LITTLE_ENDIAN);
        buffer.putLong(LOW_OFFSET, low, LITTLE_ENDIAN);
        buffer.putLong(HIGH_OFFSET, high, LITTLE_ENDIAN);
        putName(buffer, NAME_OFFSET, name);
    }

    /**
     * Whether the answer is of this peer's incarnation; then the peer's control mailbox is known.
     */
    static boolean read(UnsafeBuffer buffer, GniPeer peer) {
        if (buffer.getInt(0, LITTLE_ENDIAN) != MAGIC
                || buffer.getInt(VERSION_OFFSET, LITTLE_ENDIAN) != VERSION
                || buffer.getLong(INCARNATION_OFFSET, LITTLE_ENDIAN) != peer.incarnation) {
            return false;
        }
        peer.know(
                name(buffer, NAME_OFFSET),
                buffer.getLong(CONTROL_OFFSET, LITTLE_ENDIAN),
                buffer.getLong(LOW_OFFSET, LITTLE_ENDIAN),
                buffer.getLong(HIGH_OFFSET, LITTLE_ENDIAN));
        return true;
    }

    static void putName(UnsafeBuffer buffer, int offset, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        buffer.setMemory(offset, NAME_LENGTH, (byte) 0);
        buffer.putBytes(offset, bytes, 0, Math.min(bytes.length, NAME_LENGTH - 1));
    }

    static String name(UnsafeBuffer buffer, int offset) {
        byte[] bytes = new byte[NAME_LENGTH];
        buffer.getBytes(offset, bytes);
        int length = 0;
        while (length < NAME_LENGTH && bytes[length] != 0) {
            length++;
        }
        return new String(bytes, 0, length, StandardCharsets.US_ASCII);
    }
}
