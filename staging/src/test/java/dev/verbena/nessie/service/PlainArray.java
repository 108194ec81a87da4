package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** What an array must hold: element i, counted in row-major order, is made of i and a seed. */
final class PlainArray {
    private final Box whole;
    private final int size;
    private final long seed;

    PlainArray(ArrayDescription array, long seed) {
        this.whole = array.whole();
        this.size = array.type().size();
        this.seed = seed;
    }

    private byte value(long offset) {
        long mixed = (offset + seed) * 0x9E3779B97F4A7C15L;
        return (byte) (mixed >>> 56);
    }

    /** Bytes of a box. */
    int length(Box box) {
        return (int) box.volume() * size;
    }

    /** Writes a box into memory, element by element. */
    void fill(Box box, NntiBuffer memory) {
        long[] index = new long[box.dimensions()];
        for (int at = 0; at < length(box); at += size) {
            long offset = offset(box, index) * size;
            for (int i = 0; i < size; i++) {
                memory.window().putByte(at + i, value(offset + i));
            }
            advance(box, index);
        }
    }

    /** First byte of a box that memory has not; -1: it has all. */
    int mismatch(Box box, NntiBuffer memory) {
        long[] index = new long[box.dimensions()];
        for (int at = 0; at < length(box); at += size) {
            long offset = offset(box, index) * size;
            for (int i = 0; i < size; i++) {
                if (memory.window().getByte(at + i) != value(offset + i)) {
                    return at + i;
                }
            }
            advance(box, index);
        }
        return -1;
    }

    private long offset(Box box, long[] index) {
        long offset = 0;
        for (int i = 0; i < index.length; i++) {
            offset = offset * whole.count(i) + box.start(i) + index[i];
        }
        return offset;
    }

    private static void advance(Box box, long[] index) {
        int i = index.length - 1;
        while (i >= 0 && ++index[i] == box.count(i)) {
            index[i--] = 0;
        }
    }

    /** The array in so many boxes, or fewer if it has too few elements, in a random order. */
    static List<Box> decompose(Box whole, int count, SplittableRandom random) {
        List<Box> boxes = new ArrayList<>(List.of(whole));
        for (int tries = 0; boxes.size() < count && tries < 10 * count; tries++) {
            Box box = boxes.remove(random.nextInt(boxes.size()));
            int dimension = random.nextInt(box.dimensions());
            long length = box.count(dimension);
            if (length == 1) {
                boxes.add(box);
                continue;
            }
            long first = random.nextLong(1, length);
            boxes.add(box.with(dimension, box.start(dimension), first));
            boxes.add(box.with(dimension, box.start(dimension) + first, length - first));
        }
        return boxes;
    }
}
