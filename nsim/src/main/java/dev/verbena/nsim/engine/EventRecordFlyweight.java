package dev.verbena.nsim.engine;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * An event as it is written into a file: 32 bytes, little-endian. One thread.
 *
 * <table>
 * <caption>Layout</caption>
 * <tr><th>offset</th><th>size</th><th>field</th><th>meaning</th></tr>
 * <tr><td>0</td><td>8</td><td>timePs</td><td>virtual time in picoseconds</td></tr>
 * <tr><td>8</td><td>8</td><td>argument</td><td>depends on the kind</td></tr>
 * <tr><td>16</td><td>4</td><td>target</td><td>a node, or a router behind all nodes</td></tr>
 * <tr><td>20</td><td>4</td><td>source</td><td>who made the event</td></tr>
 * <tr><td>24</td><td>4</td><td>kind</td><td>kind of event, or {@link #RUN}</td></tr>
 * <tr><td>28</td><td>4</td><td>zero</td><td>always 0</td></tr>
 * </table>
 *
 * <p>A record of kind {@link #RUN} begins a run: its target is the number of processes, its source
 * the number of nodes, its argument the number of routers.
 *
 * <p>A program that makes a buffer of Agrona for it before it makes anything else of this toolkit
 * calls {@link dev.verbena.transport.Transports#prepare} first, or has the JVM's flag.
 */
public final class EventRecordFlyweight {
    /** Bytes of a record. */
    public static final int LENGTH = 32;

    /** No event: a run begins. Kinds of events are below {@link Engine#KINDS}. */
    public static final int RUN = 255;

    private static final int TIME_OFFSET = 0;
    private static final int ARGUMENT_OFFSET = 8;
    private static final int TARGET_OFFSET = 16;
    private static final int SOURCE_OFFSET = 20;
    private static final int KIND_OFFSET = 24;
    private static final int ZERO_OFFSET = 28;

    private DirectBuffer buffer;
    private int offset;

    /** Looks at nothing until {@link #wrap}. */
    public EventRecordFlyweight() {
        // Nothing to do.
    }

    /**
     * Writes a record.
     *
     * @throws IndexOutOfBoundsException if the buffer has no room there
     */
    public static void encode(
            MutableDirectBuffer into,
            int at,
            long timePs,
            int target,
            int source,
            int kind,
            long argument) {
        into.boundsCheck(at, LENGTH);
        into.putLong(at + TIME_OFFSET, timePs, ByteOrder.LITTLE_ENDIAN);
        into.putLong(at + ARGUMENT_OFFSET, argument, ByteOrder.LITTLE_ENDIAN);
        into.putInt(at + TARGET_OFFSET, target, ByteOrder.LITTLE_ENDIAN);
        into.putInt(at + SOURCE_OFFSET, source, ByteOrder.LITTLE_ENDIAN);
        into.putInt(at + KIND_OFFSET, kind, ByteOrder.LITTLE_ENDIAN);
        into.putInt(at + ZERO_OFFSET, 0, ByteOrder.LITTLE_ENDIAN);
    }

    /**
     * Looks at a record, which stays where it is.
     *
     * @throws IndexOutOfBoundsException if the buffer ends within it
     */
    public EventRecordFlyweight wrap(DirectBuffer from, int at) {
        from.boundsCheck(at, LENGTH);
        buffer = from;
        offset = at;
        return this;
    }

    /** Virtual time in picoseconds; 0 where a run begins. */
    public long timePs() {
        return buffer.getLong(offset + TIME_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** What the handler got; where a run begins the number of routers. */
    public long argument() {
        return buffer.getLong(offset + ARGUMENT_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** The entity that the event was for; where a run begins the number of processes. */
    public int target() {
        return buffer.getInt(offset + TARGET_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** The entity that made the event; where a run begins the number of nodes. */
    public int source() {
        return buffer.getInt(offset + SOURCE_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** Kind of the event, or {@link #RUN}. */
    public int kind() {
        return buffer.getInt(offset + KIND_OFFSET, ByteOrder.LITTLE_ENDIAN);
    }

    /** Whether this can be a record: a known kind, no negative time, zeros where they belong. */
    public boolean isSound() {
        int kind = kind();
        boolean isKind = kind == RUN || kind >= 0 && kind < Engine.KINDS;
        boolean isZero = buffer.getInt(offset + ZERO_OFFSET, ByteOrder.LITTLE_ENDIAN) == 0;
        return isKind && isZero && timePs() >= 0 && target() >= 0 && source() >= 0;
    }
}
