package dev.verbena.ofi.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Records between transports, little-endian. Each begins as follows; a message continues with its
 * bytes, a record of a key or a notification with the fields below, and {@link ControlRecord} has a
 * layout of its own that agrees in version, type and incarnation.
 *
 * <pre>
 * offset size field
 *   0     1   version (1)
 *   1     1   type
 *   2     2   zero
 *   4     4   connection at the receiver
 *   8     4   number of the message; tag of a notification; rights of a key, -1: there is none
 *  12     4   length of the message
 *  16     8   messages and notifications of the receiver that the sender has taken
 *  24     8   the sender's incarnation
 *  32     8   key
 *  40     8   address
 *  48     8   length
 *  56     8   the provider's key
 * </pre>
 */
final class Wire {
    static final int HEADER = 32;

    /** Longest record that is no message and no control record. */
    static final int SHORT = 64;

    static final int VERSION = 1;

    // Types; those below are of ControlRecord.
    static final int MESSAGE = 16;
    static final int NOTIFY = 17;
    static final int CREDITS = 18;

    /** The sender lives. */
    static final int PING = 19;

    /** What is the provider's key of this key? */
    static final int ASK_KEY = 20;

    /** The answer. */
    static final int KEY = 21;

    /** The key is of no region any more. */
    static final int REVOKE = 22;

    /** Nothing that uses the key comes after this. */
    static final int REVOKED = 23;

    private static final long INT_MASK = 0xFFFF_FFFFL;
    private static final int TYPE = 1;
    private static final int TO = 4;
    private static final int NUMBER = 8;
    private static final int LENGTH = 12;
    private static final int TAKEN = 16;
    private static final int INCARNATION = 24;
    private static final int KEY_AT = 32;
    private static final int ADDRESS = 40;
    private static final int RANGE = 48;
    private static final int PROVIDER_KEY = 56;

    private Wire() {}

    static void header(
            UnsafeBuffer b,
            int at,
            int type,
            int to,
            int number,
            int length,
            long taken,
            long own) {
        long versionAndType = VERSION | type << Byte.SIZE;
        b.putLong(at, versionAndType | (long) to << Integer.SIZE, LITTLE_ENDIAN);
        b.putLong(at + NUMBER, number & INT_MASK | (long) length << Integer.SIZE, LITTLE_ENDIAN);
        b.putLong(at + TAKEN, taken, LITTLE_ENDIAN);
        b.putLong(at + INCARNATION, own, LITTLE_ENDIAN);
    }

    static void place(
            UnsafeBuffer b, int at, long key, long address, long length, long providerKey) {
        b.putLong(at + KEY_AT, key, LITTLE_ENDIAN);
        b.putLong(at + ADDRESS, address, LITTLE_ENDIAN);
        b.putLong(at + RANGE, length, LITTLE_ENDIAN);
        b.putLong(at + PROVIDER_KEY, providerKey, LITTLE_ENDIAN);
    }

    static int version(UnsafeBuffer b, int at) {
        return b.getByte(at);
    }

    static int type(UnsafeBuffer b, int at) {
        return b.getByte(at + TYPE);
    }

    static int to(UnsafeBuffer b, int at) {
        return b.getInt(at + TO, LITTLE_ENDIAN);
    }

    static int number(UnsafeBuffer b, int at) {
        return b.getInt(at + NUMBER, LITTLE_ENDIAN);
    }

    static int length(UnsafeBuffer b, int at) {
        return b.getInt(at + LENGTH, LITTLE_ENDIAN);
    }

    static long taken(UnsafeBuffer b, int at) {
        return b.getLong(at + TAKEN, LITTLE_ENDIAN);
    }

    static long incarnation(UnsafeBuffer b, int at) {
        return b.getLong(at + INCARNATION, LITTLE_ENDIAN);
    }

    static long key(UnsafeBuffer b, int at) {
        return b.getLong(at + KEY_AT, LITTLE_ENDIAN);
    }

    static long address(UnsafeBuffer b, int at) {
        return b.getLong(at + ADDRESS, LITTLE_ENDIAN);
    }

    static long range(UnsafeBuffer b, int at) {
        return b.getLong(at + RANGE, LITTLE_ENDIAN);
    }

    static long providerKey(UnsafeBuffer b, int at) {
        return b.getLong(at + PROVIDER_KEY, LITTLE_ENDIAN);
    }
}
