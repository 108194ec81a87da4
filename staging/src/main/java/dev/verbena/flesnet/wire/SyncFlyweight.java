package dev.verbena.flesnet.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.flesnet.dfs.IntervalMetadata;
import org.agrona.MutableDirectBuffer;

/**
 * Messages between an input and a compute node (section 3.4): 16 bytes of header, then a body that
 * its type says.
 *
 * <pre>
 * offset size field, little-endian
 *  0     2    magic
 *  2     1    version
 *  3     1    type
 *  4     4    connection: number of the sender
 *  8     8    sequence on this connection and in this direction
 * 16     .    body
 * </pre>
 *
 * <p>A movable view; one thread; allocates nothing.
 */
public final class SyncFlyweight {
    /** Protocol of the file that a compute node publishes. */
    public static final String PROTOCOL = "flesnet/1";

    /** Bytes of the header. */
    public static final int HEADER = 16;

    /** Input: u32 inputs, u32 computes, u32 compute, u32 microslices of a component, i64 time. */
    public static final int HELLO = 1;

    /** Compute: data and descriptor ring, two exponents, start position, scheduler flag. */
    public static final int HELLO_ACK = 2;

    /** Input: data position, descriptor count, u32 n, n component descriptors. */
    public static final int WRITTEN = 3;

    /** Compute: data position, released, received and completed descriptor counts. */
    public static final int ACK = 4;

    /** Input: 44 bytes of interval, requested interval, send time, latency. */
    public static final int INTERVAL_ACTUAL = 5;

    /** Compute: 44 bytes of interval. */
    public static final int INTERVAL_PROPOSED = 6;

    /** Either: i64 sender's time, which comes back. */
    public static final int HEARTBEAT = 7;

    /** Either: i64 time of the heartbeat. */
    public static final int HEARTBEAT_ACK = 8;

    /** Either: the run is over, without its end. */
    public static final int ABORT = 9;

    /** Either: u64 timeslices in all. */
    public static final int FINAL = 10;

    /** Input: u32 epoch, u64 trigger, u32 n, for each node u8 suspected, u64 acknowledged. */
    public static final int FAILURE_REPORT = 11;

    /** Compute: u32 epoch, u32 n, n suspected nodes. */
    public static final int FAILURE_ASK = 12;

    /** Compute: u32 epoch, u64 trigger, u32 n, for each failed u32 node, u64 acknowledged. */
    public static final int DECISION = 13;

    /** Input: the decision that it has carried out, as in {@link #DECISION}. */
    public static final int DECISION_ACK = 14;

    /** Bytes of an interval. */
    public static final int INTERVAL_LENGTH = 44;

    /** Descriptors that a WRITTEN may carry. */
    public static final int DESCRIPTORS_MAX = 10;

    private static final int[] BODIES = {
        -1, 24, 116, 20, 32, INTERVAL_LENGTH + 24, INTERVAL_LENGTH, 8, 8, 0, 8, 16, 8, 16, 16
    };
    private static final short MAGIC = 0x4C46;
    private static final byte VERSION = 1;

    private MutableDirectBuffer buffer;
    private int offset;
    private int length;

    /** Of nothing until it is wrapped. */
    public SyncFlyweight() {}

    /** Whether messages of this type grow with the number of nodes: those about lost ones. */
    static boolean isAboutFailures(int type) {
        return type >= FAILURE_REPORT && type <= DECISION_ACK;
    }

    /** Begins a message of this type; answers itself. The body's bytes are not touched. */
    public SyncFlyweight begin(
            MutableDirectBuffer target, int at, int type, int connection, long sequence) {
        buffer = target;
        offset = at;
        length = HEADER + BODIES[type];
        buffer.putShort(at, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(at + 2, VERSION);
        buffer.putByte(at + 3, (byte) type);
        buffer.putInt(at + 4, connection, LITTLE_ENDIAN);
        buffer.putLong(at + 8, sequence, LITTLE_ENDIAN);
        return this;
    }

    /**
     * Moves to a message that may come from anywhere.
     *
     * @throws IllegalArgumentException naming what is wrong: magic, version, type or length
     */
    public SyncFlyweight wrap(MutableDirectBuffer source, int at, int size) {
        if (size < HEADER) {
            throw new IllegalArgumentException("sync message of " + size + " bytes");
        }
        buffer = source;
        offset = at;
        length = size;
        int type = type();
        if (source.getShort(at, LITTLE_ENDIAN) != MAGIC || source.getByte(at + 2) != VERSION) {
            throw new IllegalArgumentException("no sync message of version " + VERSION);
        }
        if (type < HELLO || type > DECISION_ACK || size < HEADER + BODIES[type]) {
            throw new IllegalArgumentException("sync type " + type + " with " + size + " bytes");
        }
        return this;
    }

    /** Type. */
    public int type() {
        return buffer.getByte(offset + 3) & 0xFF;
    }

    /** Number of the sender. */
    public int connection() {
        return buffer.getInt(offset + 4, LITTLE_ENDIAN);
    }

    /** Sequence. */
    public long sequence() {
        return buffer.getLong(offset + 8, LITTLE_ENDIAN);
    }

    /** Bytes of the whole message. */
    public int length() {
        return length;
    }

    /** Where its body is in {@link #buffer}. */
    public int body() {
        return offset + HEADER;
    }

    /** The memory. */
    public MutableDirectBuffer buffer() {
        return buffer;
    }

    /** The message has more than the body that every one of its type has. */
    public SyncFlyweight extend(int more) {
        length += more;
        return this;
    }

    /**
     * A number of things behind the fixed body.
     *
     * @throws IllegalArgumentException if the message is not as long as this number says
     */
    public int count(int at, int max, int each) {
        int n = i32(at);
        if (n < 0 || n > max || length != HEADER + BODIES[type()] + (long) n * each) {
            throw new IllegalArgumentException(
                    "sync type %s with %s entries and %s bytes".formatted(type(), n, length));
        }
        return n;
    }

    /** Writes a number into the body. */
    public SyncFlyweight i32(int at, int value) {
        buffer.putInt(body() + at, value, LITTLE_ENDIAN);
        return this;
    }

    /** A number of the body. */
    public int i32(int at) {
        return buffer.getInt(body() + at, LITTLE_ENDIAN);
    }

    /** Writes a number into the body. */
    public SyncFlyweight i64(int at, long value) {
        buffer.putLong(body() + at, value, LITTLE_ENDIAN);
        return this;
    }

    /** A number of the body. */
    public long i64(int at) {
        return buffer.getLong(body() + at, LITTLE_ENDIAN);
    }

    /** Writes an interval at the beginning of the body. */
    public SyncFlyweight interval(IntervalMetadata interval) {
        return i64(0, interval.interval())
                .i32(8, interval.rounds())
                .i64(12, interval.first())
                .i64(20, interval.last())
                .i64(28, interval.startNs())
                .i64(36, interval.durationNs());
    }

    /** Reads the interval at the beginning of the body. */
    public IntervalMetadata readInterval(IntervalMetadata interval) {
        return interval.set(i64(0), i32(8), i64(12), i64(20), i64(28), i64(36));
    }
}
