package dev.verbena.dart;

/** What must have happened at the receiver before it acknowledges a message. */
public enum AckMode {
    /**
     * The bytes were written to the server's socket; nothing is acknowledged. As in the paper. A
     * broken connection <b>loses</b> what was in the socket, and nobody can tell how much: the
     * receiver then wants frames that are gone, and refuses the server until it is told to accept
     * gaps ({@link DartReceiver.Context#acceptGaps}); so use the two together.
     */
    NONE,
    /** The message was handed to the consumer, which returned or threw. */
    DELIVERED,
    /** The message was written to a file, forced to the device and renamed to its final name. */
    DURABLE
}
