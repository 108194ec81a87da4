package dev.verbena.agent;

import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Files of one directory. Nothing blocks: appends are accepted or refused, forcing and renaming are
 * asked for and observed. It may be full, slow or torn; a failed file says why. Names are single
 * path elements; anything else is refused. Symbolic links and pipes are not opened.
 */
public interface DurableStore extends AutoCloseable {
    /** Makes a file and opens it for append; one that is there already fails. */
    DurableFile create(String name);

    /**
     * Opens for append; everything behind the first {@code length} bytes is cut off, behind what
     * was asked for before. A shorter or absent file fails unless {@code length} is 0, which begins
     * it anew.
     */
    DurableFile append(String name, long length);

    /** Opens an existing file for reading; null if absent. */
    ReadableFile read(String name);

    /** Names of all files. */
    List<String> list();

    /** Asks for an atomic rename that replaces the target, made durable; the result is observed. */
    Completion rename(String from, String to);

    /** Asks for a deletion. */
    Completion delete(String name);

    /**
     * Takes the exclusive lock on one byte of a file that nobody reads; the file is created if
     * absent and stays. Another process or another store sees the lock; it ends when it is closed,
     * or with this process, however that dies. Does not wait.
     *
     * @return the lock, to be closed; null if somebody has it
     * @throws java.io.UncheckedIOException if the file system cannot lock
     */
    AutoCloseable tryLock(String name, long position);

    /** Whether somebody holds a lock on a byte in {@code from} to {@code to}, exclusive. */
    boolean isLocked(String name, long from, long to);

    @Override
    void close();

    /** Registers a wake-up that is called, on any thread, when something asked for may be done. */
    void onReady(Runnable wakeup);

    /** Something asked for. */
    interface Completion {
        /** True once it has worked or failed. */
        boolean isDone();

        /** Empty while it works or has worked; otherwise why not, naming the file. */
        String error();
    }

    /** A file being written. */
    interface DurableFile extends AutoCloseable {
        /** Copies; bytes accepted, 0 if the writer is behind, -1 if the file failed. */
        int append(DirectBuffer buffer, int offset, int length);

        /**
         * As {@link #append}, but all or nothing, and without a copy where the store can: borrows
         * the bytes, which must stay as they are while {@link #isBorrowing}.
         */
        default int appendStable(DirectBuffer buffer, int offset, int length) {
            return append(buffer, offset, length);
        }

        /** Whether bytes of {@link #appendStable} are still to be read. */
        default boolean isBorrowing() {
            return false;
        }

        /** Asks that everything accepted so far be forced to the device. */
        void force();

        /** Bytes accepted, counting what the file had when opened. */
        long position();

        /** Bytes known to be on the device; -1: not even that there is such a file. */
        long forcedPosition();

        /** Why the file failed (disk full, I/O error), naming it; empty while it works. */
        String error();

        @Override
        void close();
    }

    /** A file being read. */
    interface ReadableFile extends AutoCloseable {
        /** Bytes. */
        long length();

        /** Bytes read: as many as were asked for or as there are; -1 at the end. */
        int read(long position, MutableDirectBuffer buffer, int offset, int length);

        @Override
        void close();
    }
}
