package dev.verbena.portals.transport;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * What stands in front of each message in a receive buffer, and what travels in its 64 header bits.
 *
 * <pre>
 * in the buffer, 16 bytes, native order      header bits of a message or of returned credits
 * offset size field                          bits   field
 *  0     4   state: 0 nothing, else below     0-31  connection at the receiver
 *  4     4   connection at the receiver      32-47  messages taken so far, returned credits
 *  8     4   length of the payload           48-63  number of the message
 * 12     4   number of the message
 * </pre>
 *
 * <p>The header bits alone are enough to deliver a message from its event. The copy in the buffer
 * is there for the case that the event was lost.
 *
 * <p>The number of returned credits is 0. That of a question for the peer's count is even, and its
 * answer's is one more.
 *
 * <p>Header bits of a notification: connection 0-31, tag 32-63.
 */
final class MessageHeader {
    static final int LENGTH = 16;

    /** A message that nobody has taken. */
    static final int FRESH = 0x56504D31;

    /** A message that was delivered. */
    static final int TAKEN = 0x56504D30;

    static final int STATE_OFFSET = 0;
    static final int CONNECTION_OFFSET = 4;
    static final int LENGTH_OFFSET = 8;
    static final int NUMBER_OFFSET = 12;

    /** The highest number of a question. */
    static final int QUESTION_MAX = 0xFFFE;

    private static final int ALIGNMENT = 8;
    private static final int HALF = 32;
    private static final int THREE_QUARTERS = 48;
    private static final long SHORT_MASK = 0xFFFFL;
    private static final long INT_MASK = 0xFFFF_FFFFL;

    private MessageHeader() {}

    /** Bytes that a message takes in the buffer. */
    static int space(int length) {
        return LENGTH + (length + ALIGNMENT - 1 & -ALIGNMENT);
    }

    static void write(UnsafeBuffer buffer, int at, int connection, int length, int number) {
        buffer.putInt(at + STATE_OFFSET, FRESH);
        buffer.putInt(at + CONNECTION_OFFSET, connection);
        buffer.putInt(at + LENGTH_OFFSET, length);
        buffer.putInt(at + NUMBER_OFFSET, number);
    }

    static long bits(int connection, int taken, int number) {
        return connection & INT_MASK
                | (taken & SHORT_MASK) << HALF
                | (number & SHORT_MASK) << THREE_QUARTERS;
    }

    static int connection(long bits) {
        return (int) bits;
    }

    static int taken(long bits) {
        return (int) (bits >>> HALF & SHORT_MASK);
    }

    static int number(long bits) {
        return (int) (bits >>> THREE_QUARTERS);
    }

    static long notifyBits(int connection, int tag) {
        return connection & INT_MASK | (long) tag << HALF;
    }

    static int tag(long bits) {
        return (int) (bits >>> HALF);
    }
}
