package dev.verbena.dart.server;

import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayDeque;

/**
 * A client's inbox as its server knows it. Fields are t1's, except where another writer is named.
 */
final class InboxState {
    final ServedClient client;
    final int slotCount;
    final int slotLength;
    final RemoteDescriptor descriptor = new RemoteDescriptor();

    /** Pieces that wait for the one being put. */
    final ArrayDeque<ReversePiece> waiting = new ArrayDeque<>();

    boolean isPutting;

    /** Number of the last piece taken out; -1: the process has just begun. Read by t3. */
    volatile long taken;

    /** The client has left. Read by t3. */
    volatile boolean isGone;

    // t3's: what the receiver was told over the present connection.
    long takenTold;
    boolean isKnown;

    /** t3's: some receiver has heard of it. */
    boolean wasEverTold;

    InboxState(ServedClient client, int slotCount, int slotLength, long taken) {
        this.client = client;
        this.slotCount = slotCount;
        this.slotLength = slotLength;
        this.taken = taken;
    }
}
