package dev.verbena.staging.sink;

import dev.verbena.staging.metadata.Runs;
import dev.verbena.staging.metadata.Runs.Layout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;

/**
 * Boxes of arrays in files, row-major.
 *
 * @param start where the array in the file begins within the whole
 * @param shape its elements in each dimension
 * @param element bytes of an element
 * @param address where its first element is in the file
 */
public record Boxes(FileChannel file, long address, long[] start, long[] shape, int element) {
    /** Shorter runs cost less through a buffer than a call that moves pages. */
    private static final int DIRECT_MIN = 64 << 10;

    private static final int COMPARED_MAX = 256 << 10;

    /** The array with one dimension more, for the scalars of a vector; itself for 1. */
    public static long[] extended(long[] numbers, int vector, long last) {
        if (vector == 1) {
            return numbers;
        }
        long[] more = Arrays.copyOf(numbers, numbers.length + 1);
        more[numbers.length] = last;
        return more;
    }

    /**
     * Copies a box, given in coordinates of the whole, that is within both arrays.
     *
     * @throws IOException also if the file is shorter
     */
    public void copyTo(Boxes to, long[] boxStart, long[] boxShape) throws IOException {
        Runs runs = new Runs(new Layout(boxStart, boxShape), layout(), to.layout(), element);
        long run = runs.length();
        ByteBuffer buffer = run < DIRECT_MIN ? ByteBuffer.allocateDirect((int) run) : null;
        while (runs.next()) {
            move(to, address + runs.fromOffset(), to.address + runs.toOffset(), run, buffer);
        }
    }

    /**
     * Whether both have the same bytes in a box, given as above; not if the other file is shorter.
     *
     * @throws IOException also if this file is shorter
     */
    public boolean isSame(Boxes other, long[] boxStart, long[] boxShape) throws IOException {
        Runs runs = new Runs(new Layout(boxStart, boxShape), layout(), other.layout(), element);
        long run = runs.length();
        int most = (int) Math.min(run, COMPARED_MAX);
        ByteBuffer own = ByteBuffer.allocateDirect(most);
        ByteBuffer others = ByteBuffer.allocateDirect(most);
        while (runs.next()) {
            for (long done = 0; done < run; done += most) {
                int count = (int) Math.min(most, run - done);
                long from = address + runs.fromOffset() + done;
                if (!read(own.clear().limit(count), from)) {
                    throw new IOException("the file ends at " + (from + own.position()));
                }
                long at = other.address + runs.toOffset() + done;
                boolean isRead = other.read(others.clear().limit(count), at);
                if (!isRead || own.flip().mismatch(others.flip()) >= 0) {
                    return false;
                }
            }
        }
        return true;
    }

    /** Fills a buffer that is empty; false: the file ends before. */
    private boolean read(ByteBuffer buffer, long from) throws IOException {
        while (buffer.hasRemaining()) {
            if (file.read(buffer, from + buffer.position()) < 0) {
                return false;
            }
        }
        return true;
    }

    private Layout layout() {
        return new Layout(start, shape);
    }

    private void move(Boxes to, long from, long into, long count, ByteBuffer buffer)
            throws IOException {
        if (buffer == null) {
            to.file.position(into);
            for (long done = 0; done < count; ) {
                long moved = file.transferTo(from + done, count - done, to.file);
                if (moved <= 0) {
                    throw new IOException("the file ends at " + (from + done));
                }
                done += moved;
            }
            return;
        }
        if (!read(buffer.clear(), from)) {
            throw new IOException("the file ends at " + (from + buffer.position()));
        }
        buffer.flip();
        while (buffer.hasRemaining()) {
            to.file.write(buffer, into + buffer.position());
        }
    }
}
