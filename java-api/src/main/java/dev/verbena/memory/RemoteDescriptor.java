package dev.verbena.memory;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Names memory of another process: 48 bytes that travel through any channel and third parties. It
 * carries no process identity: its holder connects to the owner's URI and uses it there.
 *
 * <pre>
 * offset size field, little-endian
 *  0     1    version (1)
 *  1     1    kind: which provider made it
 *  2     2    rights: bits below
 *  4     4    generation of the registration
 *  8     8    base: provider's address of the first byte
 * 16     8    length in bytes
 * 24    16    provider key
 * 40     4    zero
 * 44     4    CRC-32C of bytes 0 to 43
 * </pre>
 *
 * <p>This is a mutable holder, reusable without allocation; one thread at a time.
 */
public final class RemoteDescriptor {
    /** Encoded length in bytes. */
    public static final int LENGTH = 48;

    /** Version written into byte 0. */
    public static final int VERSION = 1;

    public static final int REMOTE_READ = 1;
    public static final int REMOTE_WRITE = 2;
    public static final int REMOTE_ATOMIC = 4;

    /** All three rights. */
    public static final int REMOTE_ALL = REMOTE_READ | REMOTE_WRITE | REMOTE_ATOMIC;

    public static final int KIND_SHM = 1;
    public static final int KIND_PORTALS = 2;
    public static final int KIND_UGNI = 3;
    public static final int KIND_VERBS = 4;
    public static final int KIND_SIM = 5;
    public static final int KIND_OFI = 6;
    public static final int KIND_AUTO = 7;

    private static final int KIND_OFFSET = 1;
    private static final int RIGHTS_OFFSET = 2;
    private static final int GENERATION_OFFSET = 4;
    private static final int BASE_OFFSET = 8;
    private static final int LENGTH_OFFSET = 16;
    private static final int KEY_OFFSET = 24;
    private static final int ZERO_OFFSET = 40;
    private static final int CRC_OFFSET = 44;

    private final CRC32C crc = new CRC32C();
    private final byte[] scratch = new byte[CRC_OFFSET];
    private int kind;
    private int rights;
    private int generation;
    private long base;
    private long length;
    private long keyLow;
    private long keyHigh;
    private long version;

    /** Describes nothing until it is decoded or filled by a region. */
    public RemoteDescriptor() {}

    /** Sets all fields; used by providers. */
    public RemoteDescriptor set(
            int kind,
            int rights,
            int generation,
            long base,
            long length,
            long keyLow,
            long keyHigh) {
        this.kind = kind;
        this.rights = rights;
        this.generation = generation;
        this.base = base;
        this.length = length;
        this.keyLow = keyLow;
        this.keyHigh = keyHigh;
        version++;
        return this;
    }

    /** Becomes equal to another. */
    public RemoteDescriptor set(RemoteDescriptor other) {
        return set(
                other.kind,
                other.rights,
                other.generation,
                other.base,
                other.length,
                other.keyLow,
                other.keyHigh);
    }

    /** Writes {@link #LENGTH} bytes. */
    public void encode(MutableDirectBuffer buffer, int offset) {
        buffer.putByte(offset, (byte) VERSION);
        buffer.putByte(offset + KIND_OFFSET, (byte) kind);
        buffer.putShort(offset + RIGHTS_OFFSET, (short) rights, LITTLE_ENDIAN);
        buffer.putInt(offset + GENERATION_OFFSET, generation, LITTLE_ENDIAN);
        buffer.putLong(offset + BASE_OFFSET, base, LITTLE_ENDIAN);
        buffer.putLong(offset + LENGTH_OFFSET, length, LITTLE_ENDIAN);
        buffer.putLong(offset + KEY_OFFSET, keyLow, LITTLE_ENDIAN);
        buffer.putLong(offset + KEY_OFFSET + 8, keyHigh, LITTLE_ENDIAN);
        buffer.putInt(offset + ZERO_OFFSET, 0, LITTLE_ENDIAN);
        buffer.putInt(offset + CRC_OFFSET, checksum(buffer, offset), LITTLE_ENDIAN);
    }

    /**
     * Reads {@link #LENGTH} bytes that may come from anywhere.
     *
     * @return this
     * @throws IllegalArgumentException naming the field: version, reserved bytes, length or CRC
     */
    public RemoteDescriptor decode(DirectBuffer buffer, int offset) {
        int version = buffer.getByte(offset) & 0xFF;
        if (version != VERSION) {
            throw new IllegalArgumentException(
                    "remote descriptor: version " + version + ", this program knows " + VERSION);
        }
        if (buffer.getInt(offset + CRC_OFFSET, LITTLE_ENDIAN) != checksum(buffer, offset)) {
            throw new IllegalArgumentException("remote descriptor: CRC does not match its bytes");
        }
        long decodedLength = buffer.getLong(offset + LENGTH_OFFSET, LITTLE_ENDIAN);
        if (decodedLength < 0) {
            throw new IllegalArgumentException(
                    "remote descriptor: length " + decodedLength + " is negative");
        }
        if (buffer.getInt(offset + ZERO_OFFSET, LITTLE_ENDIAN) != 0) {
            throw new IllegalArgumentException(
                    "remote descriptor: reserved bytes 40 to 43 are not zero");
        }
        return set(
                buffer.getByte(offset + KIND_OFFSET) & 0xFF,
                buffer.getShort(offset + RIGHTS_OFFSET, LITTLE_ENDIAN) & 0xFFFF,
                buffer.getInt(offset + GENERATION_OFFSET, LITTLE_ENDIAN),
                buffer.getLong(offset + BASE_OFFSET, LITTLE_ENDIAN),
                decodedLength,
                buffer.getLong(offset + KEY_OFFSET, LITTLE_ENDIAN),
                buffer.getLong(offset + KEY_OFFSET + 8, LITTLE_ENDIAN));
    }

    private int checksum(DirectBuffer buffer, int offset) {
        buffer.getBytes(offset, scratch, 0, CRC_OFFSET);
        crc.reset();
        crc.update(scratch, 0, CRC_OFFSET);
        return (int) crc.getValue();
    }

    /** Which provider made it: one of the {@code KIND_} constants. */
    public int kind() {
        return kind;
    }

    /** Rights granted. */
    public int rights() {
        return rights;
    }

    /** Generation of the registration. */
    public int generation() {
        return generation;
    }

    /** Provider's address of the first byte. */
    public long base() {
        return base;
    }

    /** Bytes that may be reached. */
    public long length() {
        return length;
    }

    /** First half of the provider key. */
    public long keyLow() {
        return keyLow;
    }

    /** Second half of the provider key. */
    public long keyHigh() {
        return keyHigh;
    }

    /**
     * For providers: grows with every change of this object, so that what was derived from it can
     * be kept until then.
     */
    public long version() {
        return version;
    }

    @Override
    public String toString() {
        return "RemoteDescriptor{kind=%s, rights=%s, generation=%s, base=0x%x, length=%s}"
                .formatted(kind, rights, generation, base, length);
    }
}
