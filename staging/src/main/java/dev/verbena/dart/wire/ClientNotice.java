package dev.verbena.dart.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a server tells the receiver about a client, in a DATA frame among those of the client: 12
 * bytes, big-endian. 0:4 application id 4:4 rank 8:4 registrations of the client before this one.
 */
public final class ClientNotice {
    public static final int LENGTH = 12;

    private ClientNotice() {}

    /** Writes what there is to say; the length. */
    public static int encode(
            int applicationId, int rank, int registration, MutableDirectBuffer target) {
        target.putInt(0, applicationId, BIG_ENDIAN);
        target.putInt(4, rank, BIG_ENDIAN);
        target.putInt(8, registration, BIG_ENDIAN);
        return LENGTH;
    }

    /**
     * Checks what may come from anywhere.
     *
     * @throws DartException MALFORMED naming the field
     */
    public static void check(DirectBuffer buffer, int length) {
        if (length != LENGTH) {
            throw malformed(length + " bytes");
        }
        if (applicationId(buffer) < 0
                || applicationId(buffer) > RegisterFlyweight.APPLICATION_MAX) {
            throw malformed("application id " + applicationId(buffer));
        }
        if (rank(buffer) < 0) {
            throw malformed("rank " + rank(buffer));
        }
        if (registration(buffer) < 0) {
            throw malformed("registration " + registration(buffer));
        }
    }

    public static int applicationId(DirectBuffer buffer) {
        return buffer.getInt(0, BIG_ENDIAN);
    }

    public static int rank(DirectBuffer buffer) {
        return buffer.getInt(4, BIG_ENDIAN);
    }

    public static int registration(DirectBuffer buffer) {
        return buffer.getInt(8, BIG_ENDIAN);
    }

    private static DartException malformed(String what) {
        return Code.MALFORMED.because("notice about a client: " + what);
    }
}
