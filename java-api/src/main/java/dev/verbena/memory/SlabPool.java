package dev.verbena.memory;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Cuts one registered region into slabs of equal length. Taking and giving back cost no allocation
 * and no system call. Owned by one thread, that of the region's transport.
 *
 * <p>The pool borrows the region: the maker of the region closes it, after {@link #close()}.
 */
public final class SlabPool implements AutoCloseable {
    /** Answer of {@link #take()}: every slab is out. */
    public static final int EXHAUSTED = -1;

    private final RegisteredRegion region;
    private final long slabLength;
    private final int[] free;
    private final boolean[] isOut;
    private final UnsafeBuffer[] buffers;
    private int freeCount;
    private boolean isClosed;

    /**
     * A pool over a whole region; a rest shorter than a slab stays unused.
     *
     * @param slabLength bytes of a slab, 1 to 2^30
     * @throws IllegalArgumentException if the region holds no slab, or more than 2^24
     */
    public SlabPool(RegisteredRegion region, int slabLength) {
        if (slabLength < 1 || slabLength > 1 << 30) {
            throw new IllegalArgumentException(
                    "slabLength " + slabLength + " is outside 1 to " + (1 << 30));
        }
        long count = region.length() / slabLength;
        if (count < 1 || count > 1 << 24) {
            throw new IllegalArgumentException(
                    "a region of %s bytes has %s slabs of %s; 1 to %s work"
                            .formatted(region.length(), count, slabLength, 1 << 24));
        }
        this.region = region;
        this.slabLength = slabLength;
        this.free = new int[(int) count];
        this.isOut = new boolean[(int) count];
        this.buffers = new UnsafeBuffer[(int) count];
        for (int slab = (int) count - 1; slab >= 0; slab--) {
            free[freeCount++] = slab;
            buffers[slab] = region.buffer((long) slab * slabLength, slabLength);
        }
    }

    /**
     * Takes a slab, the one given back last if there is one (its bytes are warm). Contents are
     * whatever they were.
     *
     * @return its number, or {@link #EXHAUSTED}
     * @throws IllegalStateException after close
     */
    public int take() {
        checkOpen();
        if (freeCount == 0) {
            return EXHAUSTED;
        }
        int slab = free[--freeCount];
        isOut[slab] = true;
        return slab;
    }

    /**
     * Gives a slab back.
     *
     * @throws IllegalArgumentException if it is not out
     */
    public void giveBack(int slab) {
        checkOut(slab);
        isOut[slab] = false;
        free[freeCount++] = slab;
    }

    /**
     * Where a slab begins in the region.
     *
     * @throws IllegalArgumentException if it is not out
     */
    public long offset(int slab) {
        checkOut(slab);
        return slab * slabLength;
    }

    /**
     * The bytes of a slab; the same buffer each time.
     *
     * @throws IllegalArgumentException if it is not out
     */
    public UnsafeBuffer buffer(int slab) {
        checkOut(slab);
        return buffers[slab];
    }

    /** The region that slabs are part of. */
    public RegisteredRegion region() {
        return region;
    }

    /** Slabs in all. */
    public int slabCount() {
        return free.length;
    }

    /**
     * Ends the pool. Idempotent.
     *
     * @throws IllegalStateException while slabs are out
     */
    @Override
    public void close() {
        if (!isClosed && freeCount != free.length) {
            throw new IllegalStateException(
                    (free.length - freeCount) + " of " + free.length + " slabs are still out");
        }
        isClosed = true;
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("closed: slab pool");
        }
    }

    private void checkOut(int slab) {
        checkOpen();
        if (slab < 0 || slab >= isOut.length || !isOut[slab]) {
            throw new IllegalArgumentException(
                    "slab " + slab + " is not out; slabs are 0 to " + (isOut.length - 1));
        }
    }
}
