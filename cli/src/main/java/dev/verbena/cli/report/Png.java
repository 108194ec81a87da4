package dev.verbena.cli.report;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Pictures as PNG files (RFC 2083), 8 bits for each of red, green and blue. */
public final class Png {
    private static final byte[] SIGNATURE = {(byte) 137, 80, 78, 71, 13, 10, 26, 10};
    private static final byte DEPTH = 8;
    private static final byte TRUE_COLOUR = 2;

    private Png() {}

    /** What a picture shows. */
    @FunctionalInterface
    public interface Dots {
        /** Red, green and blue of a dot, 0 to 255; from the left and from the top. */
        int[] colour(int x, int y);
    }

    /** A picture. */
    public static byte[] encode(int width, int height, Dots dots) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(64 * 1024);
        out.writeBytes(SIGNATURE);
        ByteBuffer header = ByteBuffer.allocate(13);
        header.putInt(width).putInt(height).put(DEPTH).put(TRUE_COLOUR);
        chunk(out, "IHDR", header.array());
        ByteArrayOutputStream compressed = new ByteArrayOutputStream(64 * 1024);
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION);
        try (DeflaterOutputStream stream = new DeflaterOutputStream(compressed, deflater)) {
            for (int y = 0; y < height; y++) {
                stream.write(row(width, y, dots));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        chunk(out, "IDAT", compressed.toByteArray());
        chunk(out, "IEND", new byte[0]);
        return out.toByteArray();
    }

    /** A colour on the way from one to another. */
    public static int[] between(int[] from, int[] to, double part) {
        int[] colour = new int[from.length];
        for (int i = 0; i < colour.length; i++) {
            colour[i] = (int) Math.round(from[i] + part * (to[i] - from[i]));
        }
        return colour;
    }

    /** A byte that says that the row is not filtered, then three bytes for each dot. */
    private static byte[] row(int width, int y, Dots dots) {
        ByteBuffer row = ByteBuffer.allocate(1 + 3 * width).put((byte) 0);
        for (int x = 0; x < width; x++) {
            for (int part : dots.colour(x, y)) {
                row.put((byte) part);
            }
        }
        return row.array();
    }

    private static void chunk(ByteArrayOutputStream out, String type, byte[] data) {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data);
        out.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        out.writeBytes(name);
        out.writeBytes(data);
        out.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }
}
