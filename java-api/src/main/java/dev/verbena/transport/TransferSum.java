package dev.verbena.transport;

import dev.verbena.agent.internal.ByteViews;
import dev.verbena.memory.RegisteredRegion;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The CRC-32C of the bytes of one {@link Transport#putSummed} or {@link Transport#getSummed}. Where
 * the transport has {@link Capability#SUMS} that of long ranges is mostly taken from the bytes as
 * they are copied; otherwise {@link #value} reads them once more.
 *
 * <p>The caller's own, used again for one operation after the other. Allocates only for a region
 * that it has not seen before. One thread, the transport's.
 *
 * <p>Source: RFC 3720, section 12.1 (the polynomial of Castagnoli).
 */
public final class TransferSum {
    private static final int WINDOW = 1 << 30;

    private final CRC32C crc = new CRC32C();
    private final ByteViews views = new ByteViews();
    private final UnsafeBuffer window = new UnsafeBuffer(0, 0);
    private final long windowLength;
    private RegisteredRegion region;
    private long offset;
    private long length;
    private boolean isKnown = true;
    private int value;

    /** Of no bytes yet. */
    public TransferSum() {
        this(WINDOW);
    }

    /**
     * For tests.
     *
     * @param windowLength bytes that are looked at through one view, a power of two
     */
    TransferSum(int windowLength) {
        this.windowLength = windowLength;
    }

    /**
     * For transports: an operation on these bytes of the caller's own region was accepted.
     *
     * @throws IndexOutOfBoundsException if the region has no such range
     */
    public void begin(RegisteredRegion ofRegion, long atOffset, long ofLength) {
        Objects.checkFromIndexSize(atOffset, ofLength, ofRegion.length());
        region = ofRegion;
        offset = atOffset;
        length = ofLength;
        isKnown = false;
    }

    /** For transports: what was found while the bytes of that operation were copied. */
    public void known(int sum) {
        value = sum;
        isKnown = true;
    }

    /**
     * The checksum, as {@link CRC32C} gives it. Of a put: from its acceptance on, as long as the
     * source is unchanged. Of a get: after its completion with {@link Status#OK}, as long as the
     * bytes are. Asked for again it stays the same until the next operation.
     *
     * @throws IllegalStateException if it is not known yet and the region was closed meanwhile
     */
    public int value() {
        if (!isKnown) {
            known(read());
        }
        return value;
    }

    /** Bytes of the operation. */
    public long length() {
        return length;
    }

    private int read() {
        long address = region.address();
        long end = offset + length;
        crc.reset();
        for (long at = offset; at < end; ) {
            // Views begin at multiples of their length, so that a region has few of them.
            long windowAt = at & -windowLength;
            int capacity = (int) Math.min(windowLength, region.length() - windowAt);
            int count = (int) Math.min(end - at, windowAt + capacity - at);
            window.wrap(address + windowAt, capacity);
            crc.update(views.view(window, (int) (at - windowAt), count));
            at += count;
        }
        return (int) crc.getValue();
    }
}
