package dev.verbena.nessie.service;

import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Chunks;
import dev.verbena.staging.metadata.Runs;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/** Puts a box together in a slot, part by part, from pieces in memory or on disk. One thread. */
final class Assembly implements AutoCloseable {
    /** Short runs in a file are read with what lies between them. */
    private static final int WINDOW_LENGTH = 64 * 1024;

    private final Version version;
    private final List<Piece> pieces;
    private final NntiBuffer slot;
    private final int size;
    private final Chunks chunks;
    private ReadableFile file;
    private UnsafeBuffer window;
    private long windowAt;
    private int windowLength;

    Assembly(Version version, List<Piece> pieces, Box box, NntiBuffer slot) {
        this.version = version;
        this.pieces = pieces;
        this.slot = slot;
        this.size = version.description.type().size();
        this.chunks = new Chunks(box, Slots.LENGTH / size);
    }

    /** The next part, now in the slot in row-major order; null: there is none. */
    Box next() {
        Box chunk = chunks.next();
        for (int i = 0; chunk != null && i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            Box part = piece.box.intersect(chunk);
            if (part != null) {
                copy(piece, part.runs(piece.box, chunk, size));
            }
        }
        return chunk;
    }

    private void copy(Piece piece, Runs runs) {
        int length = (int) runs.length();
        UnsafeBuffer to = slot.window();
        while (runs.next()) {
            int at = (int) runs.toOffset();
            if (piece.memory != null) {
                to.putBytes(at, piece.memory.window(), (int) runs.fromOffset(), length);
            } else {
                read(piece.fileAt + runs.fromOffset(), to, at, length);
            }
        }
    }

    private void read(long from, UnsafeBuffer to, int at, int length) {
        if (file == null) {
            file = version.file.read();
            window = new UnsafeBuffer(new byte[WINDOW_LENGTH]);
        }
        boolean isShort = length <= WINDOW_LENGTH / 2;
        if (isShort && (from < windowAt || from + length > windowAt + windowLength)) {
            windowAt = from;
            windowLength = file.read(from, window, 0, WINDOW_LENGTH);
        }
        long read = isShort ? windowAt + windowLength - from : file.read(from, to, at, length);
        if (read < length) {
            throw new IllegalStateException("the file of its pieces is too short");
        }
        if (isShort) {
            to.putBytes(at, window, (int) (from - windowAt), length);
        }
    }

    @Override
    public void close() {
        CloseHelper.close(file);
    }
}
