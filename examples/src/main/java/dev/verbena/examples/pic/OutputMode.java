package dev.verbena.examples.pic;

/** Ways of getting a restart file out of a compute process, compared by the demo. */
public enum OutputMode {
    /** Nowhere: a stub that only reads the clock, as in the DART report. */
    NONE,
    /** Into a file, written by the process itself and left to the kernel's page cache. */
    CACHED,
    /** Into a file, written and forced to the disk by the process itself. */
    FILES,
    /** Into a file, written and forced to the disk by another thread of the process. */
    WRITER,
    /** Through DART, one message for each item of the file. */
    ITEMS,
    /** Through DART, the whole file as one message. */
    WHOLE;

    /** In file names and lines of times. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    /**
     * The mode of a word that may come from anywhere.
     *
     * @throws IllegalArgumentException quoting it
     */
    public static OutputMode of(String word) {
        for (OutputMode mode : values()) {
            if (mode.word().equals(word)) {
                return mode;
            }
        }
        throw new IllegalArgumentException("no way of output: '" + word + "'");
    }
}
