package dev.verbena.cli.report;

import dev.verbena.staging.sink.StagedPiece;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.HashSet;
import java.util.Set;

/**
 * A small picture of an array, put together from its pieces. An array of one dimension is a strip;
 * of more than two the middle plane of the last two is shown; of a vector its first scalar. A dot
 * shows one element; the colours reach from the least to the largest of those shown.
 */
final class FieldImage {
    static final int WIDTH_MAX = 192;
    static final int HEIGHT_MAX = 128;
    private static final int STRIP_HEIGHT = 32;

    /** From the least to the largest value. */
    private static final int[][] STOPS = {
        {10, 14, 26}, {38, 84, 160}, {70, 190, 190}, {250, 220, 120}
    };

    /** What is no number. */
    private static final int[] NONE = {128, 128, 128};

    private final long[] global;
    private final long rows;
    private final long columns;
    private final int height;
    private final int width;
    private final double[] values;
    private final Set<Integer> ranks = new HashSet<>();
    private long missing;

    /** Without a piece yet. */
    FieldImage(StagedPiece piece) {
        global = piece.global();
        int dimensions = global.length;
        rows = dimensions < 2 ? 1 : global[dimensions - 2];
        columns = dimensions < 1 ? 1 : global[dimensions - 1];
        height = (int) Math.min(rows, HEIGHT_MAX);
        width = (int) Math.min(columns, WIDTH_MAX);
        values = new double[height * width];
        Arrays.fill(values, Double.NaN);
        missing = piece.globalCount();
    }

    /**
     * Draws a piece.
     *
     * @param data borrowed: the piece's elements, from 0 on
     * @return whether all pieces are drawn
     * @throws IOException if the elements cannot be read
     */
    boolean add(StagedPiece piece, FileChannel data) throws IOException {
        if (!Arrays.equals(piece.global(), global) || !ranks.add(piece.rank())) {
            return false;
        }
        missing -= piece.count();
        long plane = plane(piece);
        if (plane >= 0) {
            draw(piece, data, plane);
        }
        return missing <= 0;
    }

    /** Which of the piece's planes is shown; -1: none of them. */
    private long plane(StagedPiece piece) {
        long[] start = piece.start();
        long[] shape = piece.shape();
        long plane = 0;
        for (int i = 0; i < global.length - 2; i++) {
            long at = global[i] / 2 - start[i];
            if (at < 0 || at >= shape[i]) {
                return -1;
            }
            plane = plane * shape[i] + at;
        }
        return plane;
    }

    private void draw(StagedPiece piece, FileChannel data, long plane) throws IOException {
        int last = global.length - 1;
        long firstRow = last < 1 ? 0 : piece.start()[last - 1];
        long rowCount = last < 1 ? 1 : piece.shape()[last - 1];
        long firstColumn = last < 0 ? 0 : piece.start()[last];
        long columnCount = last < 0 ? 1 : piece.shape()[last];
        long element = (long) piece.scalar().size() * piece.vector();
        ByteBuffer one = ByteBuffer.allocateDirect(piece.scalar().size());
        one.order(ByteOrder.LITTLE_ENDIAN);
        for (int y = 0; y < height; y++) {
            long row = y * rows / height - firstRow;
            for (int x = 0; x < width && row >= 0 && row < rowCount; x++) {
                long column = x * columns / width - firstColumn;
                if (column >= 0 && column < columnCount) {
                    long index = (plane * rowCount + row) * columnCount + column;
                    values[y * width + x] = value(piece.scalar(), data, index * element, one);
                }
            }
        }
    }

    private static double value(
            StagedPiece.Scalar scalar, FileChannel data, long position, ByteBuffer one)
            throws IOException {
        one.clear();
        while (one.hasRemaining()) {
            if (data.read(one, position + one.position()) < 0) {
                throw new IOException("the data end at " + (position + one.position()));
            }
        }
        return switch (scalar) {
            case CHAR -> one.get(0);
            case INT -> one.getInt(0);
            case LONG -> one.getLong(0);
            case FLOAT -> one.getFloat(0);
            case DOUBLE -> one.getDouble(0);
        };
    }

    /** As a PNG file; a small array has larger dots. */
    byte[] png() {
        int each = Math.max(1, Math.min(WIDTH_MAX / width, HEIGHT_MAX / height));
        int across = width * each;
        int down = rows == 1 ? STRIP_HEIGHT : height * each;
        DoubleSummaryStatistics shown =
                Arrays.stream(values).filter(Double::isFinite).summaryStatistics();
        double least = shown.getMin();
        double range = shown.getMax() - least;
        return Png.encode(
                across,
                down,
                (x, y) -> {
                    double value = values[y * height / down * width + x / each];
                    return colour(range > 0 ? (value - least) / range : value * 0);
                });
    }

    /** Of a part of the range, 0 to 1. */
    private static int[] colour(double part) {
        if (!Double.isFinite(part)) {
            return NONE;
        }
        int below = (int) Math.min(part * (STOPS.length - 1), STOPS.length - 2);
        double over = part * (STOPS.length - 1) - below;
        return Png.between(STOPS[below], STOPS[below + 1], over);
    }
}
