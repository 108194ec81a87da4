package dev.verbena.nsim.network;

/** A level of detail at which messages travel. */
public interface NetworkModel {
    /** The messages. */
    MessageTable messages();

    /**
     * Starts a message whose row is filled in; its source's memory is read from {@code now} on. The
     * row belongs to the model until the message's completion.
     */
    void submit(int message);

    /** Sets who learns what becomes of messages. */
    void handler(MessageHandler handler);

    /** Messages that are under way. */
    int inFlight();
}
