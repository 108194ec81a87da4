package dev.verbena.cli.terminal;

/** Numbers of bytes for people. */
public final class ByteSize {
    private ByteSize() {}

    /** In powers of two; {@code Long.MAX_VALUE} is no limit. */
    public static String text(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        if (bytes >= 1L << 30) {
            return String.format("%.1f GiB", bytes / (double) (1L << 30));
        }
        return bytes >= 1L << 20
                ? String.format("%.0f MiB", bytes / (double) (1L << 20))
                : bytes / 1024 + " KiB";
    }
}
