package dev.verbena.nessie.xdr;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A mutable value of a type of XDR; generated structs, unions and named arrays extend it. Encoding
 * and decoding allocate nothing once arrays and optional values have grown to the size in use.
 *
 * <p>Two objects of one class are equal if their encoded bytes are; {@code equals}, {@code
 * hashCode} and {@code toString} allocate. One thread at a time.
 *
 * <p>Source: RFC 4506. The protected methods are for generated classes.
 */
public abstract class XdrObject implements XdrValue {
    /** How deep arrays and optional values may be nested if the compiler was told nothing else. */
    public static final int DEPTH_MAX = 64;

    /** Every item takes a multiple of so many bytes. */
    static final int UNIT = 4;

    private static final int TEXT_MAX = 4096;

    /** For classes that the compiler generates. */
    protected XdrObject() {}

    @Override
    public final int encodedLength() {
        long length = xdrLength(xdrDepthMax());
        if (length > Integer.MAX_VALUE) {
            throw new XdrException("the encoded value would take " + length + " bytes");
        }
        return (int) length;
    }

    @Override
    public final int encode(MutableDirectBuffer buffer, int index) {
        int length = encodedLength();
        if (index < 0 || index > Integer.MAX_VALUE - length) {
            throw new IndexOutOfBoundsException("index " + index + ", length " + length);
        }
        buffer.checkLimit(index + length);
        return xdrEncode(buffer, index, xdrDepthMax()) - index;
    }

    @Override
    public final int decode(DirectBuffer buffer, int index, int limit) {
        if (index < 0 || index > limit || limit > buffer.capacity()) {
            throw new IndexOutOfBoundsException(
                    "index %d, limit %d, capacity %d".formatted(index, limit, buffer.capacity()));
        }
        return xdrDecode(buffer, index, limit, xdrDepthMax()) - index;
    }

    /** Gives every field the value that it has in a new object; memory is kept. */
    public abstract void reset();

    /** Encoded length in bytes. */
    protected abstract long xdrLength(int depth);

    /** Encodes into a buffer with enough room; the index behind the value. */
    protected abstract int xdrEncode(MutableDirectBuffer buffer, int index, int depth);

    /** Decodes; the index behind the value, at most the limit. */
    protected abstract int xdrDecode(DirectBuffer buffer, int index, int limit, int depth);

    /** Appends the value for people. */
    protected abstract void xdrDescribe(StringBuilder text);

    /** How deep arrays and optional values may be nested below this object. */
    protected int xdrDepthMax() {
        return DEPTH_MAX;
    }

    /** Encoded length of a field. */
    protected static long lengthOf(XdrObject field, int depth) {
        return field.xdrLength(depth);
    }

    /** Encodes a field. */
    protected static int put(XdrObject field, MutableDirectBuffer buffer, int index, int depth) {
        return field.xdrEncode(buffer, index, depth);
    }

    /** Decodes a field. */
    protected static int take(
            XdrObject field, DirectBuffer buffer, int index, int limit, int depth) {
        return field.xdrDecode(buffer, index, limit, depth);
    }

    /** Appends a field; once the text is long, only dots. */
    protected static void describe(StringBuilder text, String name, Object value) {
        if (text.length() > TEXT_MAX) {
            boolean isCut = text.charAt(text.length() - 1) == '.';
            text.append(isCut ? "" : "...");
            return;
        }
        char last = text.charAt(text.length() - 1);
        text.append(last == '{' || last == '[' ? "" : ", ").append(name);
        if (value instanceof XdrObject object) {
            object.xdrDescribe(text);
        } else {
            text.append(value);
        }
    }

    /** Refuses encoded bytes that end too early. */
    protected static void need(long length, int index, int limit) {
        if (length > limit - index) {
            int left = limit - index;
            String message = "%d bytes are missing: %d are needed and %d are left";
            throw new XdrException(message.formatted(length - left, length, left));
        }
    }

    /** A decoded bool. */
    protected static boolean bool(int value) {
        if ((value & ~1) != 0) {
            throw new XdrException("a bool is " + value);
        }
        return value == 1;
    }

    /** Refuses a decoded number that its type does not have. */
    protected static int narrow(int value, int min, int max) {
        if (value < min || value > max) {
            throw new XdrException(value + " is outside " + min + " to " + max);
        }
        return value;
    }

    /** Refuses a number that a user gives for a type that does not have it. */
    protected static int requireRange(int value, int min, int max) {
        if (value < min || value > max) {
            throw new IllegalArgumentException(value + " is outside " + min + " to " + max);
        }
        return value;
    }

    /** Refuses a decoded number that its enum does not have, which is null here. */
    protected static <E> E known(E constant, String type) {
        if (constant == null) {
            throw new XdrException("a number is none of enum " + type);
        }
        return constant;
    }

    /** Refuses access to an arm of a union that is not selected. */
    protected static void requireArm(boolean isSelected, String arm) {
        if (!isSelected) {
            throw new IllegalStateException("the discriminant does not select " + arm);
        }
    }

    /** The depth that is left below an array or optional value. */
    static int below(int depth) {
        if (depth <= 0) {
            throw new XdrException("arrays or optional values are nested too deeply");
        }
        return depth - 1;
    }

    private byte[] bytes() {
        byte[] bytes = new byte[encodedLength()];
        encode(new UnsafeBuffer(bytes), 0);
        return bytes;
    }

    @Override
    public final boolean equals(Object other) {
        return this == other
                || other != null
                        && other.getClass() == getClass()
                        && java.util.Arrays.equals(bytes(), ((XdrObject) other).bytes());
    }

    @Override
    public final int hashCode() {
        return java.util.Arrays.hashCode(bytes());
    }

    @Override
    public final String toString() {
        StringBuilder text = new StringBuilder();
        xdrDescribe(text);
        return text.toString();
    }
}
