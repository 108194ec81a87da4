package dev.verbena.staging.metadata;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** A box in parts of at most so many elements, in row-major order. One thread. */
public final class Chunks {
    private final ArrayDeque<Box> left = new ArrayDeque<>();
    private final long elementsMax;

    /** Before the first part. */
    public Chunks(Box box, long elementsMax) {
        this.elementsMax = elementsMax;
        left.push(box);
    }

    /** All parts of a box. */
    public static List<Box> all(Box box, long elementsMax) {
        Chunks chunks = new Chunks(box, Math.max(1, elementsMax));
        return Stream.iterate(chunks.next(), Objects::nonNull, last -> chunks.next()).toList();
    }

    /** The next part; null: there is none. */
    public Box next() {
        Box box = left.poll();
        while (box != null && box.volume() > elementsMax) {
            int dimension = 0;
            while (box.count(dimension) == 1) {
                dimension++;
            }
            long begin = box.start(dimension);
            long count = box.count(dimension);
            long length = Math.max(1, elementsMax / (box.volume() / count));
            left.push(box.with(dimension, begin + length, count - length));
            box = box.with(dimension, begin, length);
        }
        return box;
    }
}
