package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;

/** A piece of a version: in memory, in the version's file, or in both. One thread. */
final class Piece {
    private final Box box;
    private final long length;
    private NntiBuffer memory;
    private long fileAt = -1;
    private boolean isQueued;
    private boolean isInFile;
    private boolean isComplete;
    private int users;

    /** Reserves its box; its bytes are still to come. */
    Piece(Box box, int elementSize) {
        this.box = box;
        this.length = box.volume() * elementSize;
    }

    /** One that a server finds in a file when it starts. */
    static Piece inFile(Box box, int elementSize, long at) {
        Piece piece = new Piece(box, elementSize);
        piece.filedAt(at);
        piece.filed();
        piece.completed();
        return piece;
    }

    Box box() {
        return box;
    }

    /** Bytes. */
    long length() {
        return length;
    }

    void memory(NntiBuffer buffer) {
        memory = buffer;
    }

    /** Its bytes; null: they are in the file only, or have no room yet. */
    NntiBuffer memory() {
        return memory;
    }

    /** All bytes have come. */
    void completed() {
        isComplete = true;
    }

    boolean isComplete() {
        return isComplete;
    }

    /** Where it begins in the file. */
    void filedAt(long at) {
        fileAt = at;
    }

    long fileAt() {
        return fileAt;
    }

    /** It is on its way to the file. */
    void queued() {
        isQueued = true;
    }

    boolean isQueued() {
        return isQueued;
    }

    /** It is in the file, on the device. */
    void filed() {
        isInFile = true;
    }

    boolean isInFile() {
        return isInFile;
    }

    /** Its memory is not given back until {@link #unuse}. */
    void use() {
        users++;
    }

    void unuse() {
        users--;
    }

    boolean isUsed() {
        return users > 0;
    }
}
