package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;

/**
 * A reusable list of transfer segments for vectored put and get. Fixed capacity, no allocation
 * after construction.
 */
public final class TransferVector {
    private final RegisteredRegion[] regions;
    private final long[] offsets;
    private final long[] remoteOffsets;
    private final long[] lengths;
    private int count;

    /** A vector for up to {@code capacity} segments. */
    public TransferVector(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + " is below 1");
        }
        regions = new RegisteredRegion[capacity];
        offsets = new long[capacity];
        remoteOffsets = new long[capacity];
        lengths = new long[capacity];
    }

    /** Empties the vector. */
    public TransferVector clear() {
        count = 0;
        return this;
    }

    /**
     * Appends a segment.
     *
     * @throws IllegalStateException if the vector is full
     */
    public TransferVector add(
            RegisteredRegion region, long offset, long remoteOffset, long length) {
        if (count == lengths.length) {
            throw new IllegalStateException("vector is full: " + count + " segments");
        }
        regions[count] = region;
        offsets[count] = offset;
        remoteOffsets[count] = remoteOffset;
        lengths[count] = length;
        count++;
        return this;
    }

    /** Number of segments. */
    public int count() {
        return count;
    }

    /** Local region of segment {@code i}. */
    public RegisteredRegion region(int i) {
        return regions[i];
    }

    /** Offset in the local region of segment {@code i}. */
    public long offset(int i) {
        return offsets[i];
    }

    /** Offset relative to the remote descriptor of segment {@code i}. */
    public long remoteOffset(int i) {
        return remoteOffsets[i];
    }

    /** Bytes of segment {@code i}. */
    public long length(int i) {
        return lengths[i];
    }
}
