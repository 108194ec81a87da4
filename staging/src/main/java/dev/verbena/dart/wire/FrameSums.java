package dev.verbena.dart.wire;

import dev.verbena.staging.Checksum;
import org.agrona.DirectBuffer;

/**
 * Checksums of the frames of a part, taken piece by piece while the part comes in: a piece that has
 * just come is in the processor's nearest cache, where summing it up costs a third of what it costs
 * later; or the transport has summed it up as it copied it. Allocates nothing once made. Whoever
 * holds the buffer.
 */
public final class FrameSums {
    private final int framePayloadMax;
    private final int[] sums;
    private final Checksum crc = new Checksum();
    private final boolean isBlank;
    private int summed;
    private boolean isWhole;

    /**
     * @param isBlank the bytes mean nothing, see {@code Environment.carriesPayloads}: every sum is
     *     0
     */
    public FrameSums(int bufferSize, int framePayloadMax, boolean isBlank) {
        this.framePayloadMax = framePayloadMax;
        this.sums = new int[(bufferSize + framePayloadMax - 1) / framePayloadMax];
        this.isBlank = isBlank;
        this.isWhole = isBlank;
    }

    /** Nothing is known of what the buffer will hold. */
    public void reset() {
        crc.reset();
        summed = 0;
        isWhole = isBlank;
    }

    /**
     * Goes on with what has come.
     *
     * @param upTo bytes of the part that are there
     * @param length of the whole part
     */
    public void goOn(DirectBuffer part, int upTo, int length) {
        if (isBlank) {
            return;
        }
        while (summed < upTo) {
            int frame = summed / framePayloadMax;
            int end = Math.min(upTo, (frame + 1) * framePayloadMax);
            crc.update(part, summed, end - summed);
            summed = end;
            if (end == length || end == (frame + 1) * framePayloadMax) {
                sums[frame] = crc.value();
                crc.reset();
            }
        }
        isWhole = upTo == length;
    }

    /**
     * As the other; the last bytes, all of one frame, were summed up while they were copied.
     *
     * @param count how many of them
     * @param sum of them
     */
    public void goOn(DirectBuffer part, int upTo, int length, int count, int sum) {
        goOn(part, upTo - count, length);
        if (isBlank) {
            return;
        }
        crc.append(sum, count);
        summed = upTo;
        if (upTo == length || upTo % framePayloadMax == 0) {
            sums[(upTo - 1) / framePayloadMax] = crc.value();
            crc.reset();
        }
        isWhole = upTo == length;
    }

    /** Bytes from here to the end of the frame, where a part has come so far. */
    public int leftInFrame(int upTo) {
        return framePayloadMax - upTo % framePayloadMax;
    }

    /** Whether every frame's checksum is known. */
    public boolean isWhole() {
        return isWhole;
    }

    /** Checksum of this frame's payload. */
    public int of(int frame) {
        return sums[frame];
    }
}
