package dev.verbena.dart.server;

import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayDeque;

/**
 * A client's inbox as its server knows it. Fields are t1's, except where another writer is named.
 */
final class InboxState {
    final ServedClient client;
    final int slotCount;
    final RemoteDescriptor descriptor = new RemoteDescriptor();

    /** Pieces that wait for the one being put. */
    final ArrayDeque<ReversePiece> waiting = new ArrayDeque<>();

    boolean isPutting;

    /** Number of the last piece taken out; -1: the process has just begun. Read by t3. */
    volatile long taken;

    /** The client has left. Read by t3. */
    volatile boolean isGone;

    // t3's: what the receiver was told over the present connection.
    private long takenTold;
    private boolean isKnown;

    /** t3's: some receiver has heard of it. */
    boolean wasEverTold;

    InboxState(ServedClient client, int slotCount, long taken) {
        this.client = client;
        this.slotCount = slotCount;
        this.taken = taken;
    }

    /** A piece is being put: the next one waits. */
    void putBegan() {
        isPutting = true;
    }

    void putEnded() {
        isPutting = false;
    }

    /** The process has taken out pieces up to this one. */
    void tookOut(long upTo) {
        taken = upTo;
    }

    void clientLeft() {
        isGone = true;
    }

    // ---- t3

    /** The receiver has a new connection, over which it knows nothing yet. */
    void forgetTold() {
        isKnown = false;
    }

    /** Whether the receiver knows less than this, as long as the client is there. */
    boolean hasNews() {
        return !isKnown || takenTold != taken;
    }

    /** The receiver is told of it now: how far the process has taken out. */
    long tell() {
        takenTold = taken;
        isKnown = true;
        wasEverTold = true;
        return takenTold;
    }
}
