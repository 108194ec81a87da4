package dev.verbena.dart;

import static java.nio.ByteOrder.BIG_ENDIAN;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a server tells the receiver about a client, in a DATA frame among those of the client: 12
 * bytes, big-endian. 0:4 application id 4:4 rank 8:4 registrations of the client before this one.
 */
final class ClientNotice {
    static final int LENGTH = 12;

    private ClientNotice() {}

    /** Writes what there is to say; the length. */
    static int encode(ServedClient client, MutableDirectBuffer target) {
        target.putInt(0, client.applicationId, BIG_ENDIAN);
        target.putInt(4, client.rank, BIG_ENDIAN);
        target.putInt(8, client.registration, BIG_ENDIAN);
        return LENGTH;
    }

    /**
     * Checks what may come from anywhere.
     *
     * @throws DartException MALFORMED naming the field
     */
    static void check(DirectBuffer buffer, int length) {
        if (length != LENGTH) {
            throw malformed(length + " bytes");
        }
        if (applicationId(buffer) < 0 || applicationId(buffer) > Assignments.APPLICATION_MAX) {
            throw malformed("application id " + applicationId(buffer));
        }
        if (rank(buffer) < 0) {
            throw malformed("rank " + rank(buffer));
        }
        if (registration(buffer) < 0) {
            throw malformed("registration " + registration(buffer));
        }
    }

    static int applicationId(DirectBuffer buffer) {
        return buffer.getInt(0, BIG_ENDIAN);
    }

    static int rank(DirectBuffer buffer) {
        return buffer.getInt(4, BIG_ENDIAN);
    }

    static int registration(DirectBuffer buffer) {
        return buffer.getInt(8, BIG_ENDIAN);
    }

    private static DartException malformed(String what) {
        return new DartException(DartException.Code.MALFORMED, "notice about a client: " + what);
    }
}
