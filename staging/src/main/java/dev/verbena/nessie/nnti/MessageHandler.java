package dev.verbena.nessie.nnti;

import org.agrona.DirectBuffer;

/** Takes sends without a destination where there is no receive queue ("unexpected messages"). */
public interface MessageHandler {
    /**
     * A message. Its bytes are borrowed for the call.
     *
     * @return false: not now; the message is offered again, and occupies its sender's credit
     */
    boolean onMessage(NntiPeer peer, DirectBuffer buffer, int offset, int length);

    /** Whether this message may be handled before others that were refused and wait. */
    default boolean mayPassOthers(DirectBuffer buffer, int offset, int length) {
        return false;
    }

    /** A connection has ended; nothing more comes from there. */
    default void onPeerClosed(NntiPeer peer) {}
}
