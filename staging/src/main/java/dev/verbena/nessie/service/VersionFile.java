package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.staging.file.AtomicFile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/**
 * Files of a version: one of its pieces, one behind the other, and one that says where they are. A
 * version whose second file is there is sealed.
 *
 * <p>Pieces that wait are written, then forced to the device; when none is left the version may be
 * sealed.
 *
 * <p>Never waits. One thread.
 */
final class VersionFile implements AutoCloseable {
    /** Ends of the files' names; they begin with the number of the version's files. */
    static final String PIECES = ".pieces";

    static final String SEALED = ".sealed";
    static final String NEXT = ".next";

    private final DurableStore store;
    private final long id;
    private final ArrayDeque<Piece> waiting = new ArrayDeque<>();
    private final ArrayList<Piece> unforced = new ArrayList<>();
    private DurableFile pieces;
    private int written;
    private AtomicFile seal;
    private DirectBuffer sealContent;
    private boolean isForcing;
    private boolean isSealed;

    /** Why it cannot be written; empty: it can. */
    String error = "";

    /**
     * Touches no file yet.
     *
     * @param id of no other version in the store
     * @param isSealed whether it is on disk, as a server has found
     */
    VersionFile(DurableStore store, long id, boolean isSealed) {
        this.store = store;
        this.id = id;
        this.isSealed = isSealed;
    }

    /** Queues a complete piece in memory; it is in use until it was taken. */
    void write(Piece piece) {
        piece.use();
        piece.state(Piece.State.QUEUED);
        waiting.add(piece);
    }

    /** All pieces are on the device. */
    boolean isIdle() {
        return waiting.isEmpty() && !isForcing && seal == null;
    }

    /** Seals; {@link #isIdle} must hold. */
    void seal(DirectBuffer content) {
        sealContent = content;
        seal = new AtomicFile(store, id + SEALED, id + NEXT);
        seal.replace();
    }

    boolean isSealed() {
        return isSealed;
    }

    /** Takes the next step; work done. */
    int doWork() {
        if (isForcing) {
            return awaitForced();
        } else if (seal != null) {
            return awaitSealed();
        }
        return waiting.isEmpty() ? 0 : write();
    }

    private int write() {
        if (pieces == null) {
            pieces = store.append(id + PIECES, 0);
        }
        Piece piece = waiting.peek();
        if (written == 0) {
            piece.filedAt(pieces.position());
        }
        int length = (int) piece.length();
        int taken = pieces.append(piece.memory.window(), written, length - written);
        written += Math.max(taken, 0);
        if (taken < 0) {
            fail(pieces.error());
        } else if (written == length) {
            written = 0;
            piece.unuse();
            unforced.add(waiting.remove());
            if (waiting.isEmpty()) {
                pieces.force();
                isForcing = true;
            }
        }
        return taken == 0 ? 0 : 1;
    }

    private int awaitForced() {
        if (!pieces.error().isEmpty()) {
            fail(pieces.error());
            return 1;
        }
        if (pieces.forcedPosition() < pieces.position()) {
            return 0;
        }
        unforced.forEach(piece -> piece.state(Piece.State.FILED));
        unforced.clear();
        isForcing = false;
        return 1;
    }

    private int awaitSealed() {
        int work = seal.doWork(sealContent, sealContent.capacity());
        if (!seal.error().isEmpty()) {
            fail(seal.error());
        } else if (seal.isIdle()) {
            close();
            isSealed = true;
        }
        return work;
    }

    private void fail(String why) {
        error = why;
        isForcing = false;
        waiting.forEach(Piece::unuse);
        waiting.clear();
        unforced.clear();
        close();
    }

    /** Opens the pieces for reading; the caller closes it. */
    ReadableFile read() {
        ReadableFile file = store.read(id + PIECES);
        if (file == null) {
            throw new ArrayException(ArrayStatus.FAILED, "the file " + id + PIECES + " is gone");
        }
        return file;
    }

    /** Deletes the files of a sealed version; first what makes it sealed. */
    void remove(boolean hasPieces) {
        close();
        store.delete(id + SEALED);
        if (hasPieces) {
            store.delete(id + PIECES);
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(pieces, seal);
        pieces = null;
        seal = null;
    }
}
