package dev.verbena.staging.metadata;

import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A box of indices of an array, the slowest dimension first. Immutable. */
public final class Box {
    /** Most dimensions. */
    public static final int DIMENSIONS_MAX = 8;

    private final long[] start;
    private final long[] count;
    private final long volume;

    private Box(long[] start, long[] count) {
        this.start = start;
        this.count = count;
        if (count.length == 0 || count.length > DIMENSIONS_MAX || start.length != count.length) {
            throw new IllegalArgumentException(
                    "%s first indices and %s numbers of indices; possible are 1 to %s dimensions"
                            .formatted(start.length, count.length, DIMENSIONS_MAX));
        }
        long product = 1;
        for (int i = 0; i < count.length; i++) {
            boolean isWrong = start[i] < 0 || count[i] < 1 || start[i] > Long.MAX_VALUE - count[i];
            if (isWrong || product > Long.MAX_VALUE / count[i]) {
                throw new IllegalArgumentException("box " + this);
            }
            product *= count[i];
        }
        volume = product;
    }

    /**
     * A box.
     *
     * @param start its first index in each dimension, 0 or more
     * @param count its number of indices in each dimension, 1 or more
     * @throws IllegalArgumentException naming what is out of range
     */
    public static Box of(long[] start, long[] count) {
        return new Box(start.clone(), count.clone());
    }

    /** A whole array of this shape; see {@link #of}. */
    public static Box whole(long... shape) {
        return new Box(new long[shape.length], shape.clone());
    }

    /** Number of dimensions. */
    public int dimensions() {
        return count.length;
    }

    /** First index in a dimension. */
    public long start(int dimension) {
        return start[dimension];
    }

    /** Number of indices in a dimension. */
    public long count(int dimension) {
        return count[dimension];
    }

    /** First index behind it in a dimension. */
    public long end(int dimension) {
        return start[dimension] + count[dimension];
    }

    /** Number of elements. */
    public long volume() {
        return volume;
    }

    /** What two boxes of as many dimensions have in common; null: nothing. */
    public Box intersect(Box other) {
        if (!overlaps(other)) {
            return null;
        }
        long[] from = new long[count.length];
        long[] length = new long[count.length];
        for (int i = 0; i < count.length; i++) {
            from[i] = Math.max(start[i], other.start[i]);
            length[i] = Math.min(end(i), other.end(i)) - from[i];
        }
        return new Box(from, length);
    }

    /** Whether two boxes of as many dimensions have an element in common. Allocates nothing. */
    public boolean overlaps(Box other) {
        return common(other) > 0;
    }

    /** Number of elements that two boxes of as many dimensions have in common. */
    public long common(Box other) {
        long product = 1;
        for (int i = 0; i < count.length && product > 0; i++) {
            long from = Math.max(start[i], other.start[i]);
            product *= Math.max(0, Math.min(end(i), other.end(i)) - from);
        }
        return product;
    }

    /** Whether a box has as many dimensions as this one and lies within it. */
    public boolean contains(Box other) {
        return other.count.length == count.length && common(other) == other.volume;
    }

    /** The same box with other indices in one dimension. */
    public Box with(int dimension, long from, long length) {
        long[] newStart = start.clone();
        long[] newCount = count.clone();
        newStart[dimension] = from;
        newCount[dimension] = length;
        return new Box(newStart, newCount);
    }

    /** Of this box, which lies within two others that hold elements of so many bytes. */
    public Runs runs(Box from, Box to, int elementSize) {
        return new Runs(layout(), from.layout(), to.layout(), elementSize);
    }

    private Runs.Layout layout() {
        return new Runs.Layout(start, count);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Box box
                && Arrays.equals(start, box.start)
                && Arrays.equals(count, box.count);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(start) + Arrays.hashCode(count);
    }

    /** As slices: {@code [0:4, 2:5]}; ends do not belong to it. */
    @Override
    public String toString() {
        return IntStream.range(0, count.length)
                .mapToObj(i -> start[i] + ":" + (start[i] + count[i]))
                .collect(Collectors.joining(", ", "[", "]"));
    }
}
