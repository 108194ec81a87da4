package dev.verbena.nessie.service;

/**
 * The contiguous runs of a box that lies within two others, each of which has its elements in
 * row-major order. Offsets and lengths are bytes. One thread.
 */
final class Runs {
    private final Box part;
    private final Box from;
    private final Box to;
    private final int size;
    private final long[] index;
    private final int outer;
    private final long length;
    private boolean hasBegun;

    /** Before the first run. */
    Runs(Box part, Box from, Box to, int elementSize) {
        this.part = part;
        this.from = from;
        this.to = to;
        this.size = elementSize;
        this.index = new long[part.dimensions()];
        int dimension = part.dimensions() - 1;
        long elements = part.count(dimension);
        // A dimension that the part fills in both layouts joins the runs of the slower one.
        while (dimension > 0 && isFilled(dimension)) {
            dimension--;
            elements *= part.count(dimension);
        }
        outer = dimension;
        length = elements * elementSize;
    }

    private boolean isFilled(int dimension) {
        long count = part.count(dimension);
        return count == from.count(dimension) && count == to.count(dimension);
    }

    /** Bytes of each run. */
    long length() {
        return length;
    }

    /** Goes to the next run; false: there is none. */
    boolean next() {
        if (!hasBegun) {
            hasBegun = true;
            return true;
        }
        for (int dimension = outer - 1; dimension >= 0; dimension--) {
            if (++index[dimension] < part.count(dimension)) {
                return true;
            }
            index[dimension] = 0;
        }
        return false;
    }

    /** Where the run begins in the first layout. */
    long fromOffset() {
        return offset(from);
    }

    /** Where the run begins in the second layout. */
    long toOffset() {
        return offset(to);
    }

    private long offset(Box layout) {
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset = offset * layout.count(i) + part.start(i) + index[i] - layout.start(i);
        }
        return offset * size;
    }
}
