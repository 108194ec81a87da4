package dev.verbena.savime.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.DirectBuffer;

/** Whether bytes that may come from anywhere are an STG/1 message. */
public final class MessageCheck {
    private MessageCheck() {}

    /**
     * Whether a message may be read that begins here; what it says is not looked at.
     *
     * @param available bytes that there are, at least a header
     * @throws IllegalArgumentException naming the field
     */
    public static void check(DirectBuffer at, int from, int available) {
        if (available < StgFlyweight.HEADER_LENGTH
                || at.getInt(from, LITTLE_ENDIAN) != StgFlyweight.MAGIC) {
            throw new IllegalArgumentException("not an STG/1 message");
        }
        int version = at.getByte(from + 4) & 0xFF;
        if (version != StgFlyweight.VERSION) {
            throw new IllegalArgumentException(
                    "version " + version + ", not " + StgFlyweight.VERSION);
        }
        int type = at.getByte(from + 5) & 0xFF;
        int length = at.getInt(from + 8, LITTLE_ENDIAN);
        int min = StgType.lengthMin(type);
        int max =
                type == StgType.BLOCK_DATA
                        ? StgFlyweight.DATA_OFFSET + StgFlyweight.BLOCK_LENGTH_MAX
                        : StgFlyweight.LENGTH_MAX;
        if (min == 0 || length < min || length > max) {
            throw new IllegalArgumentException("message type " + type + " of length " + length);
        }
    }
}
