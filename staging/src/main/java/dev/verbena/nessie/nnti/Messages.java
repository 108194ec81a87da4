package dev.verbena.nessie.nnti;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Messages between two transports, little-endian; each begins with its type in 4 bytes and a number
 * in 4 bytes, which is 0 unless stated here.
 *
 * <pre>
 * DATA      4: the sender's number of this send, 0: wants no answer  8: the bytes of a send without a
 *           destination
 * GREETING  8: version  12: zero  16: id (8)  24: zero (8)  32: descriptor of the variables
 * NOTICE    8: operation  12: buffer or variable  16: offset (8)  24: length (8)
 * ANSWER    4: number of the send  8: result
 * </pre>
 */
final class Messages {
    static final int DATA = 1;
    static final int GREETING = 2;
    static final int NOTICE = 3;
    static final int ANSWER = 4;
    static final int DATA_OFFSET = 8;
    static final int NOTICE_LENGTH = 32;
    static final int ANSWER_LENGTH = 12;
    static final int GREETING_LENGTH = 32 + RemoteDescriptor.LENGTH;

    /** Operation of a notice: a variable was changed. */
    static final int ATOMIC = 100;

    /** Buffer id of the variables; those of buffers begin at 1. */
    static final int VARIABLES = 0;

    private static final int VERSION = 3;
    private static final int ID_OFFSET = 16;
    private static final int DESCRIPTOR_OFFSET = 32;

    private Messages() {}

    static void begin(MutableDirectBuffer buffer, int at, int type, int number) {
        buffer.putInt(at, type, LITTLE_ENDIAN);
        buffer.putInt(at + 4, number, LITTLE_ENDIAN);
    }

    /** Of a send, or of the send that is answered. */
    static int number(DirectBuffer buffer, int at) {
        return buffer.getInt(at + 4, LITTLE_ENDIAN);
    }

    static void answer(MutableDirectBuffer buffer, int at, int number, NntiResult result) {
        begin(buffer, at, ANSWER, number);
        buffer.putInt(at + 8, result.code(), LITTLE_ENDIAN);
    }

    /** Null: no result has this code. */
    static NntiResult answered(DirectBuffer buffer, int at) {
        return NntiResult.ofCode(buffer.getInt(at + 8, LITTLE_ENDIAN));
    }

    static int type(DirectBuffer buffer, int at, int length) {
        int type = length < DATA_OFFSET ? 0 : buffer.getInt(at, LITTLE_ENDIAN);
        boolean isWhole =
                type == DATA
                        || type == GREETING && length == GREETING_LENGTH
                        || type == NOTICE && length == NOTICE_LENGTH
                        || type == ANSWER && length == ANSWER_LENGTH;
        return isWhole ? type : 0;
    }

    static void greeting(MutableDirectBuffer buffer, int at, long id, RemoteDescriptor variables) {
        begin(buffer, at, GREETING, 0);
        buffer.putLong(at + 8, VERSION, LITTLE_ENDIAN);
        buffer.putLong(at + ID_OFFSET, id, LITTLE_ENDIAN);
        buffer.putLong(at + ID_OFFSET + 8, 0);
        variables.encode(buffer, at + DESCRIPTOR_OFFSET);
    }

    /**
     * Makes the peer ready; false: it speaks another version, or its bytes are malformed, as are
     * variables that no atomic operation can reach: a transport throws for these.
     */
    static boolean readGreeting(DirectBuffer buffer, int at, NntiPeer peer) {
        if (buffer.getLong(at + 8, LITTLE_ENDIAN) != VERSION) {
            return false;
        }
        long id = buffer.getLong(at + ID_OFFSET, LITTLE_ENDIAN);
        BufferHandle variables = peer.variables.set(BufferFlags.ATOMICS, id, VARIABLES, 1);
        try {
            variables.segment(0).decode(buffer, at + DESCRIPTOR_OFFSET);
        } catch (IllegalArgumentException e) {
            return false;
        }
        boolean isReachable =
                peer.variableCount() == 0 || variables.checkAtomic(0) == NntiResult.OK;
        if (isReachable) {
            peer.ready(id);
        }
        return isReachable;
    }

    static void notice(
            MutableDirectBuffer buffer, int at, int operation, int id, long offset, long length) {
        begin(buffer, at, NOTICE, 0);
        buffer.putInt(at + 8, operation, LITTLE_ENDIAN);
        buffer.putInt(at + 12, id, LITTLE_ENDIAN);
        buffer.putLong(at + 16, offset, LITTLE_ENDIAN);
        buffer.putLong(at + 24, length, LITTLE_ENDIAN);
    }

    static void readNotice(DirectBuffer buffer, int at, NntiPeer peer, Arrivals to) {
        to.onNotice(
                peer,
                buffer.getInt(at + 8, LITTLE_ENDIAN),
                buffer.getInt(at + 12, LITTLE_ENDIAN),
                buffer.getLong(at + 16, LITTLE_ENDIAN),
                buffer.getLong(at + 24, LITTLE_ENDIAN));
    }
}
