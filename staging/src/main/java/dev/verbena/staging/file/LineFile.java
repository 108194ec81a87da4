package dev.verbena.staging.file;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.DurableStore.DurableFile;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Lines of values, with commas between them, in a file of bounded length. Never waits and allocates
 * nothing: a line that finds no room, in the file or on its way to it, is counted. One thread.
 */
public final class LineFile implements AutoCloseable {
    /** Bytes on their way to the store at most. */
    private static final int WAITING_MAX = 1 << 16;

    /** Longest value, bytes: room for a number, and more is not asked of a text. */
    private static final int VALUE_MAX = 256;

    private final DurableFile file;
    private final long lengthMax;
    private final UnsafeBuffer lines = new UnsafeBuffer(new byte[WAITING_MAX + VALUE_MAX + 1]);

    /** Where the present line begins and ends; lines before it wait for the store. */
    private int begin;

    private int end;

    /**
     * Begins behind what the file has.
     *
     * @param file closed with this
     * @param lengthMax bytes that the file never exceeds
     */
    public LineFile(DurableFile file, long lengthMax) {
        this.file = file;
        this.lengthMax = lengthMax;
    }

    /**
     * Makes a file whose name somebody else has chosen.
     *
     * @param files of such files and nothing else
     * @param filesMax in the folder, with this one
     * @throws IllegalArgumentException if that is not the plain name of a file
     * @throws IllegalStateException naming what is wrong: there is such a file, or as many as there
     *     may be
     */
    public static LineFile create(DurableStore files, String name, int filesMax, long lengthMax) {
        if (files.list().size() >= filesMax) {
            throw new IllegalStateException("there are " + filesMax + " files already");
        }
        DurableFile file = files.create(name);
        if (!file.error().isEmpty()) {
            file.close();
            throw new IllegalStateException(file.error());
        }
        return new LineFile(file, lengthMax);
    }

    /** Appends a number to the present line. */
    public LineFile add(long value) {
        separate();
        end += end > WAITING_MAX ? 0 : lines.putLongAscii(end, value);
        return this;
    }

    /** Appends a text of at most 256 characters; one that is no ASCII becomes a question mark. */
    public LineFile add(String value) {
        separate();
        boolean isThere = end <= WAITING_MAX && value.length() <= VALUE_MAX;
        end += isThere ? lines.putStringWithoutLengthAscii(end, value) : 0;
        return this;
    }

    private void separate() {
        if (end > begin && end <= WAITING_MAX) {
            lines.putByte(end++, (byte) ',');
        }
    }

    /** Ends the present line; it is lost if there is no room. */
    public void end() {
        if (end <= WAITING_MAX && file.position() + end < lengthMax) {
            lines.putByte(end++, (byte) '\n');
            begin = end;
        }
        int taken = Math.max(0, file.append(lines, 0, begin));
        lines.putBytes(0, lines, taken, begin - taken);
        begin -= taken;
        end = begin;
    }

    /** What the store has not taken yet is lost. */
    @Override
    public void close() {
        file.close();
    }
}
