package dev.verbena.transport;

import java.net.URI;
import org.agrona.DirectBuffer;

/**
 * Receives the events of one {@link Transport#poll}. All on the owner's thread. Every method has an
 * empty default; {@code poll} refuses a handler that overrides none of them.
 */
public interface TransportHandler {
    /** Drops every event: for who polls so that peers get on, and for the last polls of a life. */
    TransportHandler IGNORE = new TransportHandler() {};

    /**
     * One accepted operation ended.
     *
     * @param operation one of the constants of {@link Operation}
     * @param context what the caller gave
     * @param status one of the constants of {@link Status}
     * @param value bytes moved; for atomics the former content
     */
    default void onCompletion(
            long connection, int operation, long context, int status, long value) {}

    /**
     * A message. The payload is valid until this method returns, or until released if {@link
     * Transport#retain}ed.
     *
     * @param context of the connection
     * @param token for retain and release
     */
    default void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {}

    /** A {@code putNotify} landed in one of our regions: all its bytes are visible. */
    default void onNotify(
            long connection, long context, int tag, long regionId, long offset, long length) {}

    /**
     * A peer wants to connect: answer with accept or reject, now or later. Private data is valid
     * until return.
     */
    default void onConnectRequest(
            long connection, URI peer, DirectBuffer privateData, int offset, int length) {}

    /** The connection can be used. */
    default void onConnected(long connection, long context) {}

    /** {@code connect} failed; the handle is gone. The reason is for people. */
    default void onConnectFailed(long connection, long context, int status, String reason) {}

    /**
     * The peer disconnected in order; every outstanding operation has completed. The handle is
     * gone.
     */
    default void onDisconnected(long connection, long context) {}

    /**
     * The peer died, froze or cannot be reached; exactly once, after every outstanding operation
     * has completed.
     */
    default void onPeerLost(long connection, long context, String reason) {}
}
