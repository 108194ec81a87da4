package dev.verbena.dart.server;

import org.agrona.concurrent.UnsafeBuffer;

/** Registered memory for one piece on its way back. Handed between t3 and t1 through queues. */
final class ReversePiece {
    final int index;
    final UnsafeBuffer window;
    int clientId;
    int length;
    long number;

    /** t1: where it is being put. */
    InboxState inbox;

    ReversePiece(int index, UnsafeBuffer window) {
        this.index = index;
        this.window = window;
    }
}
