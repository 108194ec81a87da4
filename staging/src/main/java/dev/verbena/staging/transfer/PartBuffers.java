package dev.verbena.staging.transfer;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Equally long buffers in one registered region, each at the begin of a page. All memory is made
 * once. Owned by the transport's thread, except the bytes.
 */
public final class PartBuffers implements AutoCloseable {
    private static final long PAGE = 4096;

    private final RegisteredRegion region;
    private final UnsafeBuffer[] windows;
    private final int size;
    private final long stride;
    private final int[] free;
    private final boolean[] isFree;
    private int freeCount;

    /**
     * Makes and registers them.
     *
     * @param size of one, bytes
     */
    public PartBuffers(Transport transport, int count, int size) {
        this(transport.allocate(length(count, size), 0), count, size);
    }

    /**
     * In memory that is there.
     *
     * @param region of {@link #length} bytes; closed by this
     * @param size of one, bytes
     */
    public PartBuffers(RegisteredRegion region, int count, int size) {
        this.size = size;
        this.stride = length(1, size);
        this.region = region;
        this.windows = new UnsafeBuffer[count];
        this.free = new int[count];
        this.isFree = new boolean[count];
        for (int i = count - 1; i >= 0; i--) {
            windows[i] = region.buffer(i * stride, size);
            release(i);
        }
    }

    /** Bytes that so many buffers take. */
    public static long length(int count, int size) {
        return ((size + PAGE - 1) & -PAGE) * count;
    }

    /** Takes a free buffer; -1: there is none. */
    public int acquire() {
        if (freeCount == 0) {
            return -1;
        }
        int buffer = free[--freeCount];
        isFree[buffer] = false;
        return buffer;
    }

    /**
     * Gives a buffer back.
     *
     * @throws IllegalStateException if it is free already
     */
    public void release(int buffer) {
        if (isFree[buffer]) {
            throw new IllegalStateException("buffer " + buffer + " is free already");
        }
        isFree[buffer] = true;
        free[freeCount++] = buffer;
    }

    /** A buffer's memory. */
    public UnsafeBuffer window(int buffer) {
        return windows[buffer];
    }

    /** Where a buffer begins in {@link #region}. */
    public long offset(int buffer) {
        return buffer * stride;
    }

    /** The memory of all. */
    public RegisteredRegion region() {
        return region;
    }

    /** Bytes of one. */
    public int size() {
        return size;
    }

    /** How many there are. */
    public int count() {
        return windows.length;
    }

    /** How many are free. */
    public int freeCount() {
        return freeCount;
    }

    /** Gives the memory back; nothing may be outstanding. */
    @Override
    public void close() {
        region.close();
    }
}
