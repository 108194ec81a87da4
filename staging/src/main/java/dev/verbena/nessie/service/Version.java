package dev.verbena.nessie.service;

import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.staging.metadata.Box;
import java.util.ArrayList;
import java.util.List;

/** A version of an array at one server. One thread. */
final class Version {
    final ArrayDescription description;
    final VersionFile file;
    final ArrayList<Piece> pieces = new ArrayList<>();
    private boolean isSealing;

    /** Without pieces. */
    Version(ArrayDescription description, VersionFile file) {
        this.description = description;
        this.file = file;
    }

    /** Refuses another shape or type. */
    void requireSame(Box whole, ArrayType type) {
        if (!description.whole().equals(whole) || description.type() != type) {
            String own = description.whole() + " of " + description.type();
            throw failure(
                    ArrayStatus.MISMATCH, "it is %s, not %s of %s".formatted(own, whole, type));
        }
    }

    /** Reserves a box. */
    Piece reserve(Box box) {
        requireFile();
        if (isSealing || isSealed()) {
            throw failure(ArrayStatus.SEALED, "it is sealed and takes no piece " + box);
        }
        if (pieces.size() == ArrayConstants.PIECES_MAX) {
            throw failure(ArrayStatus.TOO_LARGE, "it has " + pieces.size() + " pieces already");
        }
        for (Piece piece : pieces) {
            if (piece.box.overlaps(box)) {
                throw failure(ArrayStatus.OVERLAP, "piece " + box + " overlaps piece " + piece.box);
            }
        }
        return add(box);
    }

    /** Adds a piece that overlaps no other. */
    Piece add(Box box) {
        Piece piece = new Piece(this, box);
        pieces.add(piece);
        return piece;
    }

    /** The pieces with elements of a box; null: some of its elements are still to come. */
    List<Piece> covering(Box box) {
        List<Piece> found = new ArrayList<>();
        // No two pieces have the same element.
        long missing = box.volume();
        for (int i = 0; i < pieces.size() && missing > 0; i++) {
            Piece piece = pieces.get(i);
            long common = piece.is(Piece.State.COMPLETE) ? piece.box.common(box) : 0;
            if (common > 0) {
                found.add(piece);
                missing -= common;
            }
        }
        return missing == 0 ? found : null;
    }

    /** Refuses what is of no use any more once the disk has refused a piece. */
    void requireFile() {
        if (!file.error.isEmpty()) {
            throw failure(ArrayStatus.FAILED, file.error);
        }
    }

    /** Whether all pieces have come as far as this. */
    boolean are(Piece.State least) {
        return pieces.stream().allMatch(piece -> piece.is(least));
    }

    /** Takes no more pieces. */
    void sealing() {
        isSealing = true;
    }

    /** To be sealed, and no piece is still to come. */
    boolean canBeSealed() {
        return isSealing && are(Piece.State.COMPLETE);
    }

    /** Is on disk. */
    boolean isSealed() {
        return file.isSealed();
    }

    /** An exception that names this version. */
    ArrayException failure(ArrayStatus status, String what) {
        return failure(status, description.name(), description.version(), what);
    }

    static ArrayException failure(ArrayStatus status, String name, long number, String what) {
        String which = number < 0 ? "latest version" : "version " + number;
        return new ArrayException(status, "array '%s', %s: %s".formatted(name, which, what));
    }
}
