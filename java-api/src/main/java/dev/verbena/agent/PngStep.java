package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32;

/**
 * A time step in a PNG file, as a chunk of text behind the header (PNG specification, section
 * 11.3.3.2), so that a picture and its step are replaced together.
 *
 * <pre>
 * offset size
 *  0     8    signature
 *  8     25   chunk IHDR: length 13, type, width, height, five bytes, checksum
 * 33     4    length of the text
 * 37     4    "tEXt"
 * 41     13   "Verbena step", 0
 * 54          decimal digits, checksum
 * </pre>
 */
final class PngStep {
    /** Largest width and height, dots. */
    static final int DIMENSION_MAX = 1024;

    private static final byte[] SIGNATURE = {(byte) 137, 80, 78, 71, 13, 10, 26, 10};
    private static final int HEADER_LENGTH = 13;
    private static final int HEADER_END = 33;
    private static final int WIDTH_AT = 16;
    private static final int HEIGHT_AT = 20;
    private static final int FRAME_LENGTH = 12;
    private static final int DIGITS_MAX = 19;
    private static final byte[] KEY = "tEXtVerbena step\0".getBytes(ISO_8859_1);
    private static final int TYPE_LENGTH = 4;
    private static final int DIGITS_AT = HEADER_END + 4 + KEY.length;

    /** What a step makes a file longer by, at most: a length, the text, a checksum. */
    static final int ADDED_MAX = 4 + KEY.length + DIGITS_MAX + 4;

    private PngStep() {}

    /**
     * The file with the step.
     *
     * @throws IllegalArgumentException if it is no PNG file, too large, or the step is below 0
     */
    static byte[] add(byte[] png, long step) {
        if (step < 0) {
            throw new IllegalArgumentException("step " + step + " is below 0");
        }
        if (!isPicture(png)) {
            throw new IllegalArgumentException(
                    "not a PNG file of at most %s by %s dots"
                            .formatted(DIMENSION_MAX, DIMENSION_MAX));
        }
        byte[] text = (new String(KEY, ISO_8859_1) + step).getBytes(ISO_8859_1);
        CRC32 crc = new CRC32();
        crc.update(text);
        return ByteBuffer.allocate(png.length + text.length + FRAME_LENGTH - TYPE_LENGTH)
                .put(png, 0, HEADER_END)
                .putInt(text.length - TYPE_LENGTH)
                .put(text)
                .putInt((int) crc.getValue())
                .put(png, HEADER_END, png.length - HEADER_END)
                .array();
    }

    /** The step; -1: it is no such file. */
    static long read(byte[] png) {
        if (!isPicture(png) || png.length < DIGITS_AT) {
            return -1;
        }
        int count = ByteBuffer.wrap(png).getInt(HEADER_END) - (KEY.length - TYPE_LENGTH);
        boolean isOurs =
                Arrays.equals(png, HEADER_END + 4, DIGITS_AT, KEY, 0, KEY.length)
                        && count > 0
                        && count <= DIGITS_MAX
                        && DIGITS_AT + count + 4 <= png.length;
        if (!isOurs) {
            return -1;
        }
        String digits = new String(png, DIGITS_AT, count, ISO_8859_1);
        try {
            return digits.matches("[0-9]+") ? Long.parseLong(digits) : -1;
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    static int width(byte[] png) {
        return ByteBuffer.wrap(png).getInt(WIDTH_AT);
    }

    static int height(byte[] png) {
        return ByteBuffer.wrap(png).getInt(HEIGHT_AT);
    }

    private static boolean isPicture(byte[] png) {
        return png.length > HEADER_END
                && Arrays.equals(png, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length)
                && ByteBuffer.wrap(png).getInt(SIGNATURE.length) == HEADER_LENGTH
                && new String(png, 12, 4, ISO_8859_1).equals("IHDR")
                && isDimension(width(png))
                && isDimension(height(png));
    }

    private static boolean isDimension(int dots) {
        return dots >= 1 && dots <= DIMENSION_MAX;
    }
}
