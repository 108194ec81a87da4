package dev.verbena.dart;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.dart.DartException.Code;
import dev.verbena.staging.Arguments;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A command to compute processes: a small record with a code, the step from which it holds, an
 * integer, a real number and a short text. A reusable holder; one thread.
 *
 * <pre>
 * little-endian:  0:4 version (1)   4:4 code   8:8 from step   16:8 number   24:8 real
 *                32:4 length of the text   36 text, UTF-8
 * </pre>
 */
public final class DartSteering {
    /** The simulation is to end in order. */
    public static final int STOP = 1;

    /** Output is wanted every {@link #number()} steps; 0: none. */
    public static final int OUTPUT_EVERY = 2;

    /** The parameter named by {@link #text()} becomes {@link #real()}. */
    public static final int SET_PARAMETER = 3;

    /** A checkpoint is wanted. */
    public static final int CHECKPOINT = 4;

    /** Codes from here on are the user's. */
    public static final int USER = 1000;

    /** Longest text, bytes of UTF-8. */
    public static final int TEXT_LENGTH_MAX = 255;

    static final int FIXED_LENGTH = 36;
    static final int LENGTH_MAX = FIXED_LENGTH + TEXT_LENGTH_MAX;
    private static final int VERSION = 1;
    private static final int CODE_OFFSET = 4;
    private static final int STEP_OFFSET = 8;
    private static final int NUMBER_OFFSET = 16;
    private static final int REAL_OFFSET = 24;
    private static final int TEXT_OFFSET = 32;

    private int code;
    private long fromStep;
    private long number;
    private double real;
    private String text = "";

    /** A command with this code, everything else zero. */
    public DartSteering(int code) {
        this.code = code;
    }

    /** What is to be done: one of the constants here, or a code of the user from {@link #USER}. */
    public int code() {
        return code;
    }

    /** First step for which it holds; 0 (default): at once. */
    public DartSteering fromStep(long fromStep) {
        this.fromStep = fromStep;
        return this;
    }

    /** First step for which it holds; 0: at once. */
    public long fromStep() {
        return fromStep;
    }

    /** An integer, with a meaning that depends on the code. */
    public DartSteering number(long number) {
        this.number = number;
        return this;
    }

    /** An integer, with a meaning that depends on the code. */
    public long number() {
        return number;
    }

    /** A real number, with a meaning that depends on the code. */
    public DartSteering real(double real) {
        this.real = real;
        return this;
    }

    /** A real number, with a meaning that depends on the code. */
    public double real() {
        return real;
    }

    /**
     * A text, with a meaning that depends on the code.
     *
     * @throws IllegalArgumentException if it takes more than 255 bytes of UTF-8
     */
    public DartSteering text(String text) {
        int length = text.getBytes(java.nio.charset.StandardCharsets.UTF_8).length;
        Arguments.range("length of text", length, 0, TEXT_LENGTH_MAX);
        this.text = text;
        return this;
    }

    /** A text, with a meaning that depends on the code. */
    public String text() {
        return text;
    }

    /** Writes the record; returns its length. */
    public int encode(MutableDirectBuffer buffer, int offset) {
        buffer.putInt(offset, VERSION, LITTLE_ENDIAN);
        buffer.putInt(offset + CODE_OFFSET, code, LITTLE_ENDIAN);
        buffer.putLong(offset + STEP_OFFSET, fromStep, LITTLE_ENDIAN);
        buffer.putLong(offset + NUMBER_OFFSET, number, LITTLE_ENDIAN);
        buffer.putDouble(offset + REAL_OFFSET, real, LITTLE_ENDIAN);
        int length = buffer.putStringWithoutLengthUtf8(offset + FIXED_LENGTH, text);
        buffer.putInt(offset + TEXT_OFFSET, length, LITTLE_ENDIAN);
        return FIXED_LENGTH + length;
    }

    /**
     * Reads a record that may come from anywhere.
     *
     * @return this
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    public DartSteering decode(DirectBuffer buffer, int offset, int length) {
        if (length < FIXED_LENGTH || length > LENGTH_MAX) {
            throw malformed("length " + length);
        }
        if (buffer.getInt(offset, LITTLE_ENDIAN) != VERSION) {
            throw malformed("version " + buffer.getInt(offset, LITTLE_ENDIAN));
        }
        int textLength = buffer.getInt(offset + TEXT_OFFSET, LITTLE_ENDIAN);
        if (textLength != length - FIXED_LENGTH) {
            throw malformed("length of text " + textLength);
        }
        code = buffer.getInt(offset + CODE_OFFSET, LITTLE_ENDIAN);
        fromStep = buffer.getLong(offset + STEP_OFFSET, LITTLE_ENDIAN);
        number = buffer.getLong(offset + NUMBER_OFFSET, LITTLE_ENDIAN);
        real = buffer.getDouble(offset + REAL_OFFSET, LITTLE_ENDIAN);
        text =
                textLength == 0
                        ? ""
                        : buffer.getStringWithoutLengthUtf8(offset + FIXED_LENGTH, textLength);
        return this;
    }

    private static DartException malformed(String what) {
        return Code.MALFORMED.because("steering command: " + what);
    }

    @Override
    public String toString() {
        return "DartSteering{code=%s, from step %s, %s, %s, '%s'}"
                .formatted(code, fromStep, number, real, text);
    }
}
