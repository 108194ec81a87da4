package dev.verbena.dart;

import java.util.function.Consumer;

/**
 * The fate of one message. Made by {@link DartClient#send}; its state advances while the client is
 * used (any call of the client looks for news). One thread, the client's; {@link #state()} may be
 * read by any.
 */
public interface DartTicket {
    /** How far the message has come, as far as this process has heard. Any thread. */
    TicketState state();

    /** Number of the message at this process, from 1. */
    long sequence();

    /** What the caller gave. */
    int tag();

    /** Bytes of payload. */
    long length();

    /** Name in the message's metadata. */
    String name();

    /** Why it failed; null if it did not. */
    DartException.Code failureCode();

    /** Why it failed, for people; empty if it did not. */
    String failure();

    /**
     * Waits until the state is at least this one, or {@link TicketState#SPILLED}: then the server
     * has the message on its disk, and answers for it.
     *
     * @throws DartException with the ticket's failure code if the message failed, or {@link
     *     DartException.Code#TIMEOUT}
     */
    void await(TicketState atLeast, long timeoutNs);

    /**
     * Has the handler called when the state has become final: with {@link TicketState#STREAMED},
     * {@link TicketState#FAILED}, or {@link TicketState#SPILLED}; then, if this process still hears
     * of it, once more. It runs in a call of the client by the client's thread, at the latest in
     * {@code close}; if the state is final already, in the next one. It may use the client, but for
     * closing it, and for a command while another waits for its answer. What it throws goes to the
     * environment's error handler. A ticket has one handler; the last given counts. Allocates
     * nothing but room in a queue.
     *
     * @return this
     */
    DartTicket onFinal(Consumer<DartTicket> handler);

    /**
     * Gives the ticket back to a client with pooled tickets, which may use it for another message
     * once this one is final. Without pooling it does nothing.
     */
    void release();
}
