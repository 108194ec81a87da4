package dev.verbena.nessie.service;

/** Type of an array's elements; little-endian. */
public enum ArrayType {
    INT8(1, 1),
    UINT8(2, 1),
    INT16(3, 2),
    UINT16(4, 2),
    INT32(5, 4),
    UINT32(6, 4),
    INT64(7, 8),
    UINT64(8, 8),
    FLOAT32(9, 4),
    FLOAT64(10, 8);

    private static final ArrayType[] ALL = values();

    private final int code;
    private final int size;

    ArrayType(int code, int size) {
        this.code = code;
        this.size = size;
    }

    /** As it travels. */
    public int code() {
        return code;
    }

    /** Bytes of an element. */
    public int size() {
        return size;
    }

    /** The type of this code; null: there is none. */
    public static ArrayType of(int code) {
        return code >= 1 && code <= ALL.length ? ALL[code - 1] : null;
    }
}
