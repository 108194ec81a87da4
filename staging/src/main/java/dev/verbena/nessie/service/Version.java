package dev.verbena.nessie.service;

import java.util.ArrayList;
import java.util.List;

/** A version of an array at one server. One thread. */
final class Version {
    /** Most pieces; as many as {@code array.x} allows. */
    static final int PIECES_MAX = 65_536;

    private final ArrayDescription description;
    private final VersionFile file;
    private final ArrayList<Piece> pieces = new ArrayList<>();
    private boolean isSealing;
    private boolean isSealed;
    private boolean isRemoved;

    /** Without pieces. */
    Version(ArrayDescription description, VersionFile file) {
        this.description = description;
        this.file = file;
    }

    ArrayDescription description() {
        return description;
    }

    VersionFile file() {
        return file;
    }

    List<Piece> pieces() {
        return pieces;
    }

    /** Reserves a box. */
    Piece reserve(Box box) {
        if (isSealing || isSealed) {
            throw failure(ArrayStatus.SEALED, "it is sealed and takes no piece " + box);
        }
        if (pieces.size() == PIECES_MAX) {
            throw failure(ArrayStatus.TOO_LARGE, "it has " + PIECES_MAX + " pieces already");
        }
        for (int i = 0; i < pieces.size(); i++) {
            if (pieces.get(i).box().overlaps(box)) {
                throw failure(
                        ArrayStatus.OVERLAP,
                        "piece " + box + " overlaps piece " + pieces.get(i).box());
            }
        }
        Piece piece = new Piece(box, description.type().size());
        pieces.add(piece);
        return piece;
    }

    /** One that is in the file, when a server starts. */
    void add(Piece piece) {
        pieces.add(piece);
    }

    /** Gives a reserved box up. */
    void giveUp(Piece piece) {
        pieces.remove(piece);
    }

    /** Whether complete pieces have every element of a box; no two have the same one. */
    boolean covers(Box box) {
        long missing = box.volume();
        for (int i = 0; i < pieces.size() && missing > 0; i++) {
            Piece piece = pieces.get(i);
            missing -= piece.isComplete() ? piece.box().common(box) : 0;
        }
        return missing == 0;
    }

    /** The pieces with elements of a box. */
    List<Piece> overlapping(Box box) {
        List<Piece> found = new ArrayList<>();
        for (Piece piece : pieces) {
            if (piece.isComplete() && piece.box().overlaps(box)) {
                found.add(piece);
            }
        }
        return found;
    }

    boolean hasIncomplete() {
        for (int i = 0; i < pieces.size(); i++) {
            if (!pieces.get(i).isComplete()) {
                return true;
            }
        }
        return false;
    }

    /** Takes no more pieces. */
    void sealing() {
        isSealing = true;
    }

    boolean isSealing() {
        return isSealing;
    }

    /** Is on disk. */
    void sealed() {
        isSealed = true;
    }

    boolean isSealed() {
        return isSealed;
    }

    /** Was dropped for newer ones. */
    void removed() {
        isRemoved = true;
    }

    boolean isRemoved() {
        return isRemoved;
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
