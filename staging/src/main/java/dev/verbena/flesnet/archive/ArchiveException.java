package dev.verbena.flesnet.archive;

import java.io.IOException;

/** An archive that cannot be read on; says where. */
public final class ArchiveException extends IOException {
    private static final long serialVersionUID = 1;

    private final long offset;
    private final boolean isTruncated;

    ArchiveException(String message, long offset, boolean isTruncated) {
        super(message);
        this.offset = offset;
        this.isTruncated = isTruncated;
    }

    /**
     * Where the item begins that cannot be read, in bytes; behind the head of a zstd file
     * uncompressed ones.
     */
    public long offset() {
        return offset;
    }

    /** Whether the file ends within an item. */
    public boolean isTruncated() {
        return isTruncated;
    }
}
