package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.DurableStore.DurableFile;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.staging.file.AtomicFile;
import java.util.ArrayDeque;
import java.util.ArrayList;
import org.agrona.DirectBuffer;

/**
 * Files of a version: one of its pieces, one behind the other, and one that says where they are. A
 * version whose second file is there is sealed.
 *
 * <pre>
 * IDLE -- write --> WRITING --> FORCING --> WRITING or IDLE
 * IDLE -- seal --> SEALING --> SEALED
 * any -- error --> FAILED
 * </pre>
 *
 * <p>Never waits. One thread.
 */
final class VersionFile implements AutoCloseable {
    /** Ends of the files' names; they begin with the number of the version's files. */
    static final String PIECES = ".pieces";

    static final String SEALED = ".sealed";
    static final String NEXT = ".next";

    private enum State {
        IDLE,
        WRITING,
        FORCING,
        SEALING,
        SEALED,
        FAILED
    }

    private final DurableStore store;
    private final long id;
    private final ArrayDeque<Piece> waiting = new ArrayDeque<>();
    private final ArrayList<Piece> unforced = new ArrayList<>();
    private State state = State.IDLE;
    private DurableFile pieces;
    private int written;
    private AtomicFile seal;
    private DirectBuffer sealContent;
    private boolean hasPieces;
    private String error = "";

    /**
     * Touches no file yet.
     *
     * @param id of no other version in the store
     */
    VersionFile(DurableStore store, long id) {
        this.store = store;
        this.id = id;
    }

    /** That of a version that was sealed when a server starts. */
    static VersionFile ofSealed(DurableStore store, long id, boolean hasPieces) {
        VersionFile file = new VersionFile(store, id);
        file.hasPieces = hasPieces;
        file.state = State.SEALED;
        return file;
    }

    /** Queues a complete piece in memory; it is in use until it was taken. */
    void write(Piece piece) {
        piece.use();
        piece.queued();
        waiting.add(piece);
        if (state == State.IDLE) {
            state = State.WRITING;
        }
    }

    /** All pieces are on the device. */
    boolean isIdle() {
        return state == State.IDLE;
    }

    /** Seals; {@link #isIdle} must hold. */
    void seal(DirectBuffer content) {
        sealContent = content;
        seal = new AtomicFile(store, id + SEALED, id + NEXT);
        seal.replace();
        state = State.SEALING;
    }

    boolean isSealed() {
        return state == State.SEALED;
    }

    /** Why it cannot be written; empty: it can. */
    String error() {
        return error;
    }

    /** Takes the next step; work done. */
    int doWork() {
        return switch (state) {
            case WRITING -> write();
            case FORCING -> awaitForced();
            case SEALING -> awaitSealed();
            default -> 0;
        };
    }

    private int write() {
        if (pieces == null) {
            pieces = store.append(id + PIECES, 0);
            hasPieces = true;
        }
        Piece piece = waiting.peek();
        if (written == 0) {
            piece.filedAt(pieces.position());
        }
        int length = (int) piece.length();
        int taken = pieces.append(piece.memory().window(), written, length - written);
        written += Math.max(taken, 0);
        if (taken < 0) {
            fail(pieces.error());
        } else if (written == length) {
            written = 0;
            piece.unuse();
            unforced.add(waiting.remove());
            if (waiting.isEmpty()) {
                pieces.force();
                state = State.FORCING;
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
        unforced.forEach(Piece::filed);
        unforced.clear();
        state = waiting.isEmpty() ? State.IDLE : State.WRITING;
        return 1;
    }

    private int awaitSealed() {
        int work = seal.doWork(sealContent, sealContent.capacity());
        if (!seal.error().isEmpty()) {
            fail(seal.error());
        } else if (seal.isIdle()) {
            close();
            state = State.SEALED;
        }
        return work;
    }

    private void fail(String why) {
        error = why;
        state = State.FAILED;
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

    /** Deletes the files; first what makes the version sealed. */
    void remove() {
        close();
        store.delete(id + SEALED);
        if (hasPieces) {
            store.delete(id + PIECES);
        }
    }

    @Override
    public void close() {
        if (pieces != null) {
            pieces.close();
            pieces = null;
        }
        if (seal != null) {
            seal.close();
            seal = null;
        }
        sealContent = null;
    }
}
