package dev.verbena.staging.file;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/**
 * A file that is replaced as a whole: the new content is written under another name, forced to the
 * device, and renamed. A reader finds the old content or the new one, also after a crash; what a
 * crash leaves under the other name is overwritten by the next replacement. Once replaced, the file
 * may be appended to in rounds, each of which is forced.
 *
 * <pre>
 * IDLE or FAILED -- replace --> WRITING --> FORCING --> RENAMING --> IDLE
 * IDLE -- append --> WRITING --> FORCING --> IDLE
 * any -- error --> FAILED
 * </pre>
 *
 * <p>Never waits: {@link #doWork} takes one step. One thread.
 */
public final class AtomicFile implements AutoCloseable {
    private enum State {
        IDLE,
        WRITING,
        FORCING,
        RENAMING,
        FAILED
    }

    private final DurableStore store;
    private final String name;
    private final String nextName;
    private DurableFile file;
    private Completion rename;
    private State state = State.IDLE;
    private boolean isReplacing;
    private int written;
    private String error = "";

    /**
     * Touches no file yet.
     *
     * @param store not closed by this
     * @param nextName under which a new content is written, in the same store
     */
    public AtomicFile(DurableStore store, String name, String nextName) {
        this.store = store;
        this.name = name;
        this.nextName = nextName;
    }

    /**
     * False while a rename is pending: it would give the file's name to the beginning of a further
     * content.
     */
    public boolean canReplace() {
        return rename == null || rename.isDone();
    }

    /**
     * Begins a new content, in place of any that is not complete; {@link #canReplace} must hold.
     */
    public void replace() {
        if (!canReplace()) {
            throw new IllegalStateException(name + " is being renamed");
        }
        closeFile();
        error = "";
        rename = null;
        file = store.append(nextName, 0);
        begin(true);
    }

    /** Begins a round at the end of the content; the file must be idle and have been replaced. */
    public void append() {
        if (state != State.IDLE || file == null) {
            throw new IllegalStateException(name + " cannot be appended to now");
        }
        begin(false);
    }

    private void begin(boolean isWhole) {
        isReplacing = isWhole;
        written = 0;
        state = State.WRITING;
    }

    /**
     * Takes the next step.
     *
     * @param content what {@link #replace} or {@link #append} began; it may grow at its end while
     *     {@link #isWriting}
     * @param length bytes of the content, from its begin
     * @return work done
     */
    public int doWork(DirectBuffer content, int length) {
        if (!error().isEmpty()) {
            return 0;
        }
        return switch (state) {
            case WRITING -> write(content, length);
            case FORCING -> awaitForced();
            case RENAMING -> awaitRenamed();
            default -> 0;
        };
    }

    private int write(DirectBuffer content, int length) {
        int n = file.append(content, written, length - written);
        written += Math.max(n, 0);
        if (written == length) {
            file.force();
            state = State.FORCING;
            return 1;
        }
        return n > 0 ? 1 : 0;
    }

    private int awaitForced() {
        if (file.forcedPosition() < file.position()) {
            return 0;
        }
        if (isReplacing) {
            rename = store.rename(nextName, name);
        }
        state = isReplacing ? State.RENAMING : State.IDLE;
        return 1;
    }

    private int awaitRenamed() {
        if (!rename.isDone()) {
            return 0;
        }
        if (rename.error().isEmpty()) {
            state = State.IDLE;
        } else {
            fail(rename.error());
        }
        return 1;
    }

    /** Why the file failed; empty: it has not. A failed file may be replaced. */
    public String error() {
        if (state != State.FAILED && file != null && !file.error().isEmpty()) {
            fail(file.error());
        }
        return error;
    }

    private void fail(String why) {
        error = why;
        state = State.FAILED;
        closeFile();
    }

    /** The content is not all taken yet. */
    public boolean isWriting() {
        return state == State.WRITING;
    }

    /** All content is on the device, under the file's own name once it was replaced. */
    public boolean isIdle() {
        return state == State.IDLE;
    }

    /** The new content is complete; it has the file's name, or gets it unless a crash comes. */
    public boolean isRenaming() {
        return state == State.RENAMING;
    }

    /** Bytes of the content, as far as they were taken; 0 if there is none. */
    public long length() {
        return file == null ? 0 : file.position();
    }

    /**
     * Gives up an unfinished content, and a round that was begun. The file is not replaced again by
     * this: the deletion of what is unfinished may still be under way. Idempotent.
     */
    @Override
    public void close() {
        closeFile();
        boolean isUnfinished = state == State.WRITING || state == State.FORCING;
        if (isReplacing && isUnfinished) {
            store.delete(nextName);
        }
        state = State.IDLE;
    }

    private void closeFile() {
        CloseHelper.close(file);
        file = null;
    }
}
