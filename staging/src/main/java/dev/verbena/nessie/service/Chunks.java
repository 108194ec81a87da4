package dev.verbena.nessie.service;

/** A box in parts of at most so many elements, in row-major order. One thread. */
final class Chunks {
    private final Box box;
    private final long[] at;
    private final int dimension;
    private final long step;
    private boolean isOver;

    /** Before the first part. */
    Chunks(Box box, long elementsMax) {
        this.box = box;
        this.at = new long[box.dimensions()];
        int cut = 0;
        long inner = box.volume() / box.count(0);
        while (inner > elementsMax) {
            cut++;
            inner /= box.count(cut);
        }
        dimension = cut;
        step = Math.min(box.count(cut), elementsMax / inner);
    }

    /** The next part; null: there is none. */
    Box next() {
        if (isOver) {
            return null;
        }
        long length = Math.min(step, box.count(dimension) - at[dimension]);
        Box part = box.with(dimension, box.start(dimension) + at[dimension], length);
        for (int i = 0; i < dimension; i++) {
            part = part.with(i, box.start(i) + at[i], 1);
        }
        advance(length);
        return part;
    }

    private void advance(long length) {
        at[dimension] += length;
        int i = dimension;
        while (at[i] == box.count(i)) {
            at[i] = 0;
            if (i == 0) {
                isOver = true;
                return;
            }
            i--;
            at[i]++;
        }
    }
}
