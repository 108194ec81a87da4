package dev.verbena.staging.metadata;

/**
 * The contiguous runs of a box that lies within two others, each of which has its elements in
 * row-major order. Offsets and lengths are bytes. One thread.
 */
public final class Runs {
    /** A box of indices; the arrays belong to the caller. */
    public record Layout(long[] start, long[] count) {}

    private final Layout part;
    private final Layout from;
    private final Layout to;
    private final int size;
    private final long[] index;
    private final int outer;
    private final long length;
    private boolean hasBegun;

    /** Before the first run. */
    public Runs(Layout part, Layout from, Layout to, int elementSize) {
        this.part = part;
        this.from = from;
        this.to = to;
        this.size = elementSize;
        this.index = new long[part.count.length];
        int dimension = index.length;
        long bytes = elementSize;
        boolean isFilled = true;
        // A dimension that the part fills in both layouts joins the runs of the slower one.
        while (dimension > 0 && isFilled) {
            dimension--;
            long count = part.count[dimension];
            bytes *= count;
            isFilled = count == from.count[dimension] && count == to.count[dimension];
        }
        outer = dimension;
        length = bytes;
    }

    /** Bytes of each run. */
    public long length() {
        return length;
    }

    /** Goes to the next run; false: there is none. */
    public boolean next() {
        if (!hasBegun) {
            hasBegun = true;
            return true;
        }
        for (int dimension = outer - 1; dimension >= 0; dimension--) {
            if (++index[dimension] < part.count[dimension]) {
                return true;
            }
            index[dimension] = 0;
        }
        return false;
    }

    /** Where the run begins in the first layout. */
    public long fromOffset() {
        return offset(from);
    }

    /** Where the run begins in the second layout. */
    public long toOffset() {
        return offset(to);
    }

    private long offset(Layout layout) {
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset = offset * layout.count[i] + part.start[i] + index[i] - layout.start[i];
        }
        return offset * size;
    }
}
