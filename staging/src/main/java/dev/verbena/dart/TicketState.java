package dev.verbena.dart;

/** How far a message has come. States only advance, in the order declared here. */
public enum TicketState {
    /** Accepted by the library; its header is still to be sent. */
    QUEUED,
    /** The header is on its way to the server; the data must not be changed. */
    HEADER_SENT,
    /** The server has read the data; the buffer may be changed. */
    TRANSFERRED,
    /**
     * The receiver is away or behind, and the server has forced the message to its own disk: it
     * will be delivered once, even if the server is killed and started again. Becomes STREAMED if
     * the process is still there then, FAILED if the files cannot be read any more. Only with
     * {@code DartServer.Context.spill}.
     */
    SPILLED,
    /**
     * The receiver has confirmed the message, as strongly as it was told to (delivered, durable).
     */
    STREAMED,
    /** The message did not arrive, or nobody can say whether it did; the ticket says why. */
    FAILED;

    /** STREAMED, FAILED or SPILLED: the process has nothing left to wait for. */
    public boolean isFinal() {
        return this == STREAMED || this == FAILED || this == SPILLED;
    }
}
