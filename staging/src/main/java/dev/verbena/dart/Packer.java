package dev.verbena.dart;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Packs many small items into one message: the buffered form of a restart file. Items are written
 * one after the other, little-endian, without gaps, so the payload is the concatenation of what
 * unbuffered sends would carry. Grows up to a limit and keeps its memory. One thread.
 */
public final class Packer {
    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(4096);
    private final int lengthMax;
    private int length;
    private int itemCount;

    /**
     * A packer.
     *
     * @param lengthMax most bytes of one message
     */
    public Packer(int lengthMax) {
        Arguments.range("lengthMax", lengthMax, 1, Integer.MAX_VALUE - 4096);
        this.lengthMax = lengthMax;
    }

    /** Appends 4 bytes. */
    public Packer putInt(int value) {
        buffer.putInt(claim(4), value, LITTLE_ENDIAN);
        return this;
    }

    /** Appends 8 bytes. */
    public Packer putLong(long value) {
        buffer.putLong(claim(8), value, LITTLE_ENDIAN);
        return this;
    }

    /** Appends 4 bytes. */
    public Packer putFloat(float value) {
        buffer.putFloat(claim(4), value, LITTLE_ENDIAN);
        return this;
    }

    /** Appends 8 bytes. */
    public Packer putDouble(double value) {
        buffer.putDouble(claim(8), value, LITTLE_ENDIAN);
        return this;
    }

    /** Appends all elements as one item. */
    public Packer putArray(float[] values) {
        int at = claim(Math.multiplyExact(4, values.length));
        for (int i = 0; i < values.length; i++) {
            buffer.putFloat(at + 4 * i, values[i], LITTLE_ENDIAN);
        }
        return this;
    }

    /** Appends all elements as one item. */
    public Packer putArray(double[] values) {
        int at = claim(Math.multiplyExact(8, values.length));
        for (int i = 0; i < values.length; i++) {
            buffer.putDouble(at + 8 * i, values[i], LITTLE_ENDIAN);
        }
        return this;
    }

    /** Appends bytes as one item. Copies. */
    public Packer putBytes(org.agrona.DirectBuffer source, int offset, int count) {
        source.boundsCheck(offset, count);
        buffer.putBytes(claim(count), source, offset, count);
        return this;
    }

    /** Bytes packed. */
    public int length() {
        return length;
    }

    /** Items packed. */
    public int itemCount() {
        return itemCount;
    }

    /** What was packed, from 0 to {@link #length()}. */
    public MutableDirectBuffer buffer() {
        return buffer;
    }

    /** Sends everything packed as one message, by copy, and empties the packer. */
    public DartTicket commit(DartClient client, DartMetadata metadata, int tag) {
        DartTicket ticket = client.sendCopy(buffer, 0, length, metadata, tag);
        clear();
        return ticket;
    }

    /** Forgets what was packed. */
    public Packer clear() {
        length = 0;
        itemCount = 0;
        return this;
    }

    private int claim(int count) {
        if (count > lengthMax - length) {
            throw new IllegalStateException(
                    "packer holds "
                            + length
                            + " bytes; "
                            + count
                            + " more exceed its limit of "
                            + lengthMax);
        }
        int at = length;
        length += count;
        itemCount++;
        buffer.checkLimit(length);
        return at;
    }
}
