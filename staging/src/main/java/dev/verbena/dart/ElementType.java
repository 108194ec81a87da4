package dev.verbena.dart;

/** Type of the elements of a message's payload, for those who interpret it. */
public enum ElementType {
    /** Uninterpreted bytes. */
    BYTES(0, 1),
    /** Signed 32-bit integers. */
    INT32(1, 4),
    /** Signed 64-bit integers. */
    INT64(2, 8),
    /** IEEE single precision. */
    FLOAT32(3, 4),
    /** IEEE double precision. */
    FLOAT64(4, 8),
    /** A sequence of typed items made with {@link Packer}. */
    PACKED(5, 1);

    private static final ElementType[] BY_CODE = values();

    private final int code;
    private final int size;

    ElementType(int code, int size) {
        this.code = code;
        this.size = size;
    }

    /** As it travels. */
    public int code() {
        return code;
    }

    /** Bytes of one element. */
    public int size() {
        return size;
    }

    /** The type of a code, or null if there is none. */
    public static ElementType ofCode(int code) {
        return code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
