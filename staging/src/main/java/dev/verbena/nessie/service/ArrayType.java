package dev.verbena.nessie.service;

/** Type of an array's elements; little-endian. */
public enum ArrayType {
    INT8(1),
    UINT8(1),
    INT16(2),
    UINT16(2),
    INT32(4),
    UINT32(4),
    INT64(8),
    UINT64(8),
    FLOAT32(4),
    FLOAT64(8);

    private final int size;

    ArrayType(int size) {
        this.size = size;
    }

    /** As it travels: from 1, in the order above. */
    public int code() {
        return ordinal() + 1;
    }

    /** Bytes of an element. */
    public int size() {
        return size;
    }

    /** The type of this code; null: there is none. */
    public static ArrayType of(int code) {
        return code >= 1 && code <= values().length ? values()[code - 1] : null;
    }
}
