package dev.verbena.dart.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Private data of a server's connect to a client: 0:4 magic 0x44415254, 4:4 zero, 8:16 job;
 * little-endian. Left out where the transport carries less.
 */
public final class ConnectNote {
    public static final int LENGTH = 24;

    private ConnectNote() {}

    /** Writes the note; its length, or 0 if that exceeds {@code lengthMax}. */
    public static int encode(MutableDirectBuffer buffer, UUID job, int lengthMax) {
        if (lengthMax < LENGTH) {
            return 0;
        }
        buffer.putInt(0, ControlFlyweight.MAGIC, LITTLE_ENDIAN);
        buffer.putInt(4, 0, LITTLE_ENDIAN);
        buffer.putLong(8, job.getMostSignificantBits(), LITTLE_ENDIAN);
        buffer.putLong(16, job.getLeastSignificantBits(), LITTLE_ENDIAN);
        return LENGTH;
    }

    /** Whether a note is of this job. */
    public static boolean isOfJob(DirectBuffer buffer, int offset, int length, UUID job) {
        return length >= LENGTH
                && buffer.getInt(offset, LITTLE_ENDIAN) == ControlFlyweight.MAGIC
                && buffer.getLong(offset + 8, LITTLE_ENDIAN) == job.getMostSignificantBits()
                && buffer.getLong(offset + 16, LITTLE_ENDIAN) == job.getLeastSignificantBits();
    }
}
