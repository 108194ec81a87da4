package dev.verbena.flesnet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.staging.Arguments;
import dev.verbena.staging.Checksum;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Makes microslices that can be checked: 64-bit words, the high 16 bits the input, the low 48 bits
 * the word's position in the content (the ramp of spec section 3.1). Sizes vary by a spread around
 * the mean, the same for the same numbers. One thread; allocates nothing after it was made.
 */
public final class PatternSource implements MicrosliceSource {
    private static final int BATCH = 256;

    private final int input;
    private final long count;
    private final int meanBytes;
    private final int spreadBytes;
    private final long periodNs;
    private final UnsafeBuffer content;
    private final int[] prefixChecksums;
    private long made;
    private long beginNs;
    private boolean isBegun;

    /**
     * A source.
     *
     * @param input number of the input node
     * @param count microslices in all
     * @param meanBytes of a content, a multiple of 8, at most 16 MiB
     * @param spreadBytes contents differ from the mean by up to so much, a multiple of 8
     * @param periodNs from one microslice to the next; 0: as fast as there is room
     */
    public PatternSource(int input, long count, int meanBytes, int spreadBytes, long periodNs) {
        Arguments.range("input", input, 0, 0xFFFF);
        Arguments.range("meanBytes", meanBytes, 0, 16 << 20);
        Arguments.range("spreadBytes", spreadBytes, 0, meanBytes);
        if (meanBytes % 8 != 0 || spreadBytes % 8 != 0) {
            throw new IllegalArgumentException(
                    "meanBytes %s or spreadBytes %s is no multiple of 8"
                            .formatted(meanBytes, spreadBytes));
        }
        this.input = input;
        this.count = count;
        this.meanBytes = meanBytes;
        this.spreadBytes = spreadBytes;
        this.periodNs = periodNs;
        int longest = meanBytes + spreadBytes;
        this.content = new UnsafeBuffer(new byte[longest]);
        this.prefixChecksums = new int[longest / 8 + 1];
        Checksum checksum = new Checksum();
        for (int at = 0; at < longest; at += 8) {
            content.putLong(at, word(input, at), LITTLE_ENDIAN);
            checksum.update(content, at, 8);
            prefixChecksums[at / 8 + 1] = checksum.value();
        }
    }

    private static long word(int input, long at) {
        return (long) input << 48 | at;
    }

    /** Bytes of the content of microslice {@code index} of any input. */
    public static int size(long index, int meanBytes, int spreadBytes) {
        int steps = spreadBytes / 8 * 2 + 1;
        long mixed = index * 0x9E3779B97F4A7C15L >>> 33;
        return meanBytes - spreadBytes + (int) (mixed % steps) * 8;
    }

    /** Whether a content is the ramp of this input. */
    public static boolean isRamp(DirectBuffer buffer, int offset, int length, int input) {
        for (int at = 0; at + 8 <= length; at += 8) {
            if (buffer.getLong(offset + at, LITTLE_ENDIAN) != word(input, at)) {
                return false;
            }
        }
        return true;
    }

    @Override
    public int poll(MicrosliceSink sink, long nowNs) {
        if (!isBegun) {
            isBegun = true;
            beginNs = nowNs;
        }
        int work = 0;
        while (made < count && work < BATCH) {
            int size = size(made, meanBytes, spreadBytes);
            if (periodNs > 0 ? nextDueNs() - nowNs > 0 : !sink.hasRoom(size)) {
                break;
            }
            sink.add(
                    input,
                    MicrosliceFlyweight.CRC_VALID,
                    MicrosliceFlyweight.SYSTEM_FLES,
                    MicrosliceFlyweight.FORMAT_RAMP,
                    made,
                    prefixChecksums[size / 8],
                    content,
                    0,
                    size);
            made++;
            work++;
        }
        return work;
    }

    @Override
    public boolean isEnded() {
        return made == count;
    }

    @Override
    public long nextDueNs() {
        return periodNs == 0 || !isBegun || made == count ? NEVER : beginNs + made * periodNs;
    }
}
