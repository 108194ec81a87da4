package dev.verbena.staging.metadata;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Which piece of which variable some data are: an array of {@code shape} elements that begins at
 * {@code start} of a global array of shape {@code global}, row-major, of one time step and rank.
 *
 * <pre>
 * offset size field, little-endian
 *  0     1    version (1)
 *  1     1    dimensions n, 0 to 8
 *  2     2    length of the variable's name, at most 255
 *  4     4    rank
 *  8     8    step
 * 16    24 n  global, start, shape: three numbers of 8 bytes for each dimension
 *             name of the variable, UTF-8
 * </pre>
 *
 * <p>Immutable. Values are checked: a piece lies within its global array.
 *
 * @param variable up to 255 bytes
 * @param step 0 or more
 * @param rank 0 or more
 * @param global elements in each dimension, the slowest first
 */
public record PieceMetadata(
        String variable, long step, int rank, long[] global, long[] start, long[] shape) {
    public static final int DIMENSIONS_MAX = 8;
    private static final int NAME_MAX = 255;
    private static final int FIXED_LENGTH = 16;

    /** Longest block, bytes. */
    public static final int LENGTH_MAX = FIXED_LENGTH + 24 * DIMENSIONS_MAX + NAME_MAX;

    private static final int VERSION = 1;

    /**
     * A piece.
     *
     * @throws IllegalArgumentException naming the value that is out of range
     */
    public PieceMetadata {
        int n = global.length;
        if (n > DIMENSIONS_MAX || start.length != n || shape.length != n) {
            throw new IllegalArgumentException(
                    "global, start and shape have %s, %s and %s dimensions; at most %s, as many each"
                            .formatted(n, start.length, shape.length, DIMENSIONS_MAX));
        }
        if (variable.getBytes(UTF_8).length > NAME_MAX || step < 0 || rank < 0) {
            throw new IllegalArgumentException("variable, step " + step + " or rank " + rank);
        }
        for (int i = 0; i < n; i++) {
            if (start[i] < 0 || shape[i] < 1 || shape[i] > global[i] - start[i]) {
                throw new IllegalArgumentException(
                        "dimension %s: %s elements from %s on are not within %s"
                                .formatted(i, shape[i], start[i], global[i]));
            }
        }
        global = global.clone();
        start = start.clone();
        shape = shape.clone();
    }

    @Override
    public long[] global() {
        return global.clone();
    }

    @Override
    public long[] start() {
        return start.clone();
    }

    @Override
    public long[] shape() {
        return shape.clone();
    }

    /** Writes the block; returns its length. */
    public int encode(MutableDirectBuffer buffer, int offset) {
        byte[] name = variable.getBytes(UTF_8);
        buffer.putByte(offset, (byte) VERSION);
        buffer.putByte(offset + 1, (byte) global.length);
        buffer.putShort(offset + 2, (short) name.length, LITTLE_ENDIAN);
        buffer.putInt(offset + 4, rank, LITTLE_ENDIAN);
        buffer.putLong(offset + 8, step, LITTLE_ENDIAN);
        int at = offset + FIXED_LENGTH;
        for (long[] numbers : new long[][] {global, start, shape}) {
            for (long number : numbers) {
                buffer.putLong(at, number, LITTLE_ENDIAN);
                at += 8;
            }
        }
        buffer.putBytes(at, name);
        return at + name.length - offset;
    }

    /**
     * Reads a block that may come from anywhere.
     *
     * @param length of the block
     * @throws IllegalArgumentException naming what is wrong
     */
    public static PieceMetadata decode(DirectBuffer buffer, int offset, int length) {
        if (length < FIXED_LENGTH || buffer.getByte(offset) != VERSION) {
            throw new IllegalArgumentException("not a metadata block");
        }
        int n = buffer.getByte(offset + 1) & 0xFF;
        int nameLength = buffer.getShort(offset + 2, LITTLE_ENDIAN) & 0xFFFF;
        if (n > DIMENSIONS_MAX || FIXED_LENGTH + 24 * n + nameLength != length) {
            throw new IllegalArgumentException(
                    "metadata block of %s bytes with %s dimensions and a name of %s"
                            .formatted(length, n, nameLength));
        }
        byte[] name = new byte[nameLength];
        buffer.getBytes(offset + FIXED_LENGTH + 24 * n, name);
        return new PieceMetadata(
                new String(name, UTF_8),
                buffer.getLong(offset + 8, LITTLE_ENDIAN),
                buffer.getInt(offset + 4, LITTLE_ENDIAN),
                numbers(buffer, offset + FIXED_LENGTH, n),
                numbers(buffer, offset + FIXED_LENGTH + 8 * n, n),
                numbers(buffer, offset + FIXED_LENGTH + 16 * n, n));
    }

    private static long[] numbers(DirectBuffer buffer, int at, int n) {
        long[] numbers = new long[n];
        for (int i = 0; i < n; i++) {
            numbers[i] = buffer.getLong(at + 8 * i, LITTLE_ENDIAN);
        }
        return numbers;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PieceMetadata that
                && variable.equals(that.variable)
                && step == that.step
                && rank == that.rank
                && Arrays.equals(global, that.global)
                && Arrays.equals(start, that.start)
                && Arrays.equals(shape, that.shape);
    }

    @Override
    public int hashCode() {
        return variable.hashCode() * 31 + Long.hashCode(step) + rank;
    }

    @Override
    public String toString() {
        return "%s of step %s, rank %s: %s from %s of %s"
                .formatted(
                        variable,
                        step,
                        rank,
                        Arrays.toString(shape),
                        Arrays.toString(start),
                        Arrays.toString(global));
    }
}
