package dev.verbena.dart.stream;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** What travels from the receiver to processes, over the connection of a server's stream. */
public interface ReverseStream {
    /** A new connection: nothing is known at its other end. */
    void connected();

    /** Whether {@link #encode} has something to report. */
    boolean hasNews();

    /** Writes the payload of the next REVERSE_STATE. */
    void encode(MutableDirectBuffer out, int at);

    /** A piece for this client has arrived. */
    void onPiece(int clientId, DirectBuffer from, int at, int length);
}
