package dev.verbena.nsim.dart;

import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Bytes of a payload: a function of the message's tag and of their place in it. */
final class PayloadPattern {
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private PayloadPattern() {}

    private static long word(int tag, int at) {
        long z = (tag * GOLDEN ^ at) * 0xbf58476d1ce4e5b9L;
        return z ^ z >>> 31;
    }

    static void fill(MutableDirectBuffer buffer, int offset, int length, int tag) {
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            buffer.putLong(offset + at, word(tag, at), ByteOrder.LITTLE_ENDIAN);
        }
        for (; at < length; at++) {
            buffer.putByte(offset + at, (byte) word(tag, at));
        }
    }

    /** Where the first wrong byte is; -1: nowhere. */
    static int firstWrong(DirectBuffer buffer, int offset, int length, int tag) {
        int at = 0;
        for (; at + Long.BYTES <= length; at += Long.BYTES) {
            if (buffer.getLong(offset + at, ByteOrder.LITTLE_ENDIAN) != word(tag, at)) {
                return at;
            }
        }
        for (; at < length; at++) {
            if (buffer.getByte(offset + at) != (byte) word(tag, at)) {
                return at;
            }
        }
        return -1;
    }
}
