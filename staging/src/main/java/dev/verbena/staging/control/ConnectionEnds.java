package dev.verbena.staging.control;

import dev.verbena.transport.TransportHandler;

/** Handles events where it is the same for the user in which way a connection ends. */
public interface ConnectionEnds extends TransportHandler {
    /** The connection came to nothing, or has ended. The reason is for people. */
    void onGone(long connection, long context, String reason);

    @Override
    default void onConnectFailed(long connection, long context, int status, String reason) {
        onGone(connection, context, reason);
    }

    @Override
    default void onDisconnected(long connection, long context) {
        onGone(connection, context, "it ended the connection");
    }

    @Override
    default void onPeerLost(long connection, long context, String reason) {
        onGone(connection, context, reason);
    }
}
