package dev.verbena.dart.server;

import java.util.concurrent.atomic.AtomicLong;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

/** What t1 and t3 of a server share for the way back. */
final class ReverseShared {
    /** Pieces that may be on their way through a server. */
    static final int PIECES = 32;

    /** Filled by the receiver: t3 to t1. */
    final OneToOneConcurrentArrayQueue<ReversePiece> full =
            new OneToOneConcurrentArrayQueue<>(PIECES);

    /** Put, or of no use: t1 to t3. */
    final OneToOneConcurrentArrayQueue<ReversePiece> empty =
            new OneToOneConcurrentArrayQueue<>(PIECES);

    /** Inboxes that opened: t1 to t3. */
    final OneToOneConcurrentArrayQueue<InboxState> opened;

    /** Grows whenever t3 has something to tell; written by t1. */
    final AtomicLong news = new AtomicLong();

    ReverseShared(int clientsMax) {
        opened = new OneToOneConcurrentArrayQueue<>(Math.max(64, 4 * clientsMax));
    }
}
