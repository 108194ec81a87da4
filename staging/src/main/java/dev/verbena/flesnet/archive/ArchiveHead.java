package dev.verbena.flesnet.archive;

/**
 * What an archive says of itself (section 9.1).
 *
 * @param type {@link #TIMESLICES} or {@link #MICROSLICES}; other types are refused
 * @param compression {@link #PLAIN} or {@link #ZSTD}
 * @param createdSeconds since 1970
 * @param host that wrote it
 * @param user that wrote it
 */
public record ArchiveHead(
        int type, int compression, long createdSeconds, String host, String user) {
    /** Type: items are timeslices. */
    public static final int TIMESLICES = 0;

    /** Type: items are microslices. */
    public static final int MICROSLICES = 1;

    /** Compression: none. */
    public static final int PLAIN = 0;

    /** Compression: one zstd stream behind the head. */
    public static final int ZSTD = 1;

    /** Checks type and compression. */
    public ArchiveHead {
        if (type < TIMESLICES || type > MICROSLICES || compression < PLAIN || compression > ZSTD) {
            throw new IllegalArgumentException(
                    "archive of type %s with compression %s".formatted(type, compression));
        }
    }
}
