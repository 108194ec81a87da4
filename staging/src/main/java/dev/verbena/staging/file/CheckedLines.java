package dev.verbena.staging.file;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.staging.Checksum;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Text of {@code key=value} lines, ended by {@code crc=} and the CRC-32C of all bytes before that
 * line, hexadecimal. Whatever is wrong is an {@link IllegalArgumentException} that names the line.
 */
public final class CheckedLines {
    private static final String CRC = "crc";

    private CheckedLines() {}

    /** Lines, each ended by a newline, and their checksum behind them. */
    public static String encode(String lines) {
        return lines + CRC + "=" + crcOf(lines) + "\n";
    }

    /** The lines by key, in their order, after the checksum was found to be right. */
    public static Map<String, String> parse(String text, int lengthMax) {
        Map<String, String> values = parseUnchecked(text, lengthMax);
        if (values.get(CRC) == null) {
            throw new IllegalArgumentException("no crc= line");
        }
        int crcAt = text.lastIndexOf(CRC + "=" + values.get(CRC));
        if (!crcOf(text.substring(0, crcAt)).equals(values.get(CRC))) {
            throw new IllegalArgumentException("crc does not match the lines before it");
        }
        return values;
    }

    /** As {@link #parse} for text that need have no checksum; a checksum is not compared. */
    public static Map<String, String> parseUnchecked(String text, int lengthMax) {
        if (text.length() > lengthMax) {
            throw new IllegalArgumentException("longer than " + lengthMax + " characters");
        }
        Map<String, String> values = new LinkedHashMap<>();
        int at = 0;
        while (at < text.length()) {
            int end = text.indexOf('\n', at);
            if (end < 0) {
                throw new IllegalArgumentException("the last line is not ended");
            }
            add(values, text.substring(at, end).trim());
            at = end + 1;
        }
        return values;
    }

    private static void add(Map<String, String> values, String line) {
        int equals = line.indexOf('=');
        if (line.isEmpty()) {
            return;
        }
        if (equals <= 0) {
            throw new IllegalArgumentException("line without '='");
        }
        if (values.containsKey(CRC)) {
            throw new IllegalArgumentException("a line after crc=");
        }
        String key = line.substring(0, equals);
        if (values.put(key, line.substring(equals + 1)) != null) {
            throw new IllegalArgumentException("two lines " + key + "=");
        }
    }

    /**
     * The value of this key.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static String need(Map<String, String> values, String key) {
        String value = values.get(key);
        if (value == null) {
            throw new IllegalArgumentException("no line " + key + "=");
        }
        return value;
    }

    /** As {@link #need} of a number from 0 to {@code max}. */
    public static long needNumber(Map<String, String> values, String key, long max) {
        String text = need(values, key);
        try {
            long value = Long.parseLong(text);
            if (value >= 0 && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below, as a number out of range is.
        }
        throw new IllegalArgumentException(key + "=" + text + " is not a number from 0 to " + max);
    }

    private static String crcOf(String lines) {
        byte[] bytes = lines.getBytes(UTF_8);
        return String.format("%08x", new Checksum().update(bytes, 0, bytes.length).value());
    }
}
