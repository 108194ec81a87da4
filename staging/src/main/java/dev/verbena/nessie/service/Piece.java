package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;

/** A piece of a version: in memory, in the version's file, or in both. One thread. */
final class Piece {
    /** How far its bytes have come, in this order. */
    enum State {
        EXPECTED,
        COMPLETE,
        /** On their way to the file. */
        QUEUED,
        /** In the file, on the device. */
        FILED
    }

    final Version version;
    final Box box;
    private State state = State.EXPECTED;

    /** Its bytes; null: they are in the file only, or have no room yet. */
    NntiBuffer memory;

    long fileAt;
    private int users;

    /** Has its box only. */
    Piece(Version version, Box box) {
        this.version = version;
        this.box = box;
    }

    /** Bytes. */
    long length() {
        return box.volume() * version.description.type().size();
    }

    void memory(NntiBuffer buffer) {
        memory = buffer;
    }

    void state(State next) {
        state = next;
    }

    /** Whether its bytes have come as far as this, or farther. */
    boolean is(State least) {
        return state.compareTo(least) >= 0;
    }

    /** Where it begins in the file. */
    void filedAt(long at) {
        fileAt = at;
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
