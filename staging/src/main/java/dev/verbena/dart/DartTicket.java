package dev.verbena.dart;

import java.util.Objects;
import java.util.function.Consumer;

/**
 * The fate of one message. Made by {@link DartClient#send}; its state advances while the client is
 * used (any call of the client looks for news). One thread, the client's; {@link #state()} may be
 * read by any.
 */
public final class DartTicket {
    private final DartClient client;
    private final TicketNews news;
    private Consumer<DartTicket> handler;
    private boolean isToBeTold;
    private volatile TicketState state = TicketState.QUEUED;
    private long sequence;
    private int tag;
    private long length;
    private String name = "";
    private DartException.Code failureCode;
    private String failure = "";
    boolean isHeldByUser;
    boolean isPooled;

    DartTicket(DartClient client, TicketNews news) {
        this.client = client;
        this.news = news;
    }

    void begin(long sequence, int tag, long length, String name) {
        this.sequence = sequence;
        this.tag = tag;
        this.length = length;
        this.name = name;
        this.failureCode = null;
        this.failure = "";
        this.isHeldByUser = true;
        this.isPooled = false;
        this.handler = null;
        this.state = TicketState.QUEUED;
    }

    void state(TicketState next) {
        state = next;
        changed();
    }

    private void changed() {
        if (handler != null && !isToBeTold && state.isFinal()) {
            isToBeTold = true;
            news.add(this);
        }
    }

    void tell() {
        isToBeTold = false;
        if (handler != null) {
            handler.accept(this);
        }
    }

    void fail(DartException.Code code, String why) {
        failureCode = code;
        failure = why;
        state = TicketState.FAILED;
        changed();
    }

    /** How far the message has come, as far as this process has heard. Any thread. */
    public TicketState state() {
        return state;
    }

    /** Number of the message at this process, from 1. */
    public long sequence() {
        return sequence;
    }

    /** What the caller gave. */
    public int tag() {
        return tag;
    }

    /** Bytes of payload. */
    public long length() {
        return length;
    }

    /** Name in the message's metadata. */
    public String name() {
        return name;
    }

    /** Why it failed; null if it did not. */
    public DartException.Code failureCode() {
        return failureCode;
    }

    /** Why it failed, for people; empty if it did not. */
    public String failure() {
        return failure;
    }

    /**
     * Waits until the state is at least this one, or {@link TicketState#SPILLED}: then the server
     * has the message on its disk, and answers for it.
     *
     * @throws DartException with the ticket's failure code if the message failed, or {@link
     *     DartException.Code#TIMEOUT}
     */
    public void await(TicketState atLeast, long timeoutNs) {
        client.await(this, atLeast, timeoutNs);
    }

    /**
     * Has the handler called when the state has become final: with {@link TicketState#STREAMED},
     * {@link TicketState#FAILED}, or {@link TicketState#SPILLED}; then, if this process still hears
     * of it, once more. It runs in a call of the client by the client's thread, at the latest in
     * {@code close}; if the state is final already, in the next one. It may use the client, but for
     * closing it. What it throws goes to the environment's error handler. A ticket has one handler;
     * the last given counts. Allocates nothing but room in a queue.
     *
     * @return this
     */
    public DartTicket onFinal(Consumer<DartTicket> handler) {
        this.handler = Objects.requireNonNull(handler, "handler");
        changed();
        return this;
    }

    /**
     * Gives the ticket back to a client with pooled tickets, which may use it for another message
     * once this one is final. Without pooling it does nothing.
     */
    public void release() {
        client.release(this);
    }

    @Override
    public String toString() {
        return "message "
                + sequence
                + " ('"
                + name
                + "', tag "
                + tag
                + ", "
                + length
                + " bytes): "
                + state
                + (failure.isEmpty() ? "" : ", " + failure);
    }
}
