package dev.verbena.dart.server;

import org.agrona.DirectBuffer;
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

    /** A piece for this client came. */
    void fill(int client, DirectBuffer from, int at, int its) {
        window.putBytes(0, from, at, its);
        clientId = client;
        length = its;
    }

    /** Its number is known. */
    void numbered(long its) {
        number = its;
    }

    /** It is to be put there. */
    void goesTo(InboxState its) {
        inbox = its;
    }

    /** It was put, or is dropped. */
    void free() {
        inbox = null;
    }
}
