package dev.verbena.dart;

/**
 * The fate of one message. Made by {@link DartClient#send}; its state advances while the client is
 * used (any call of the client looks for news). One thread, the client's; {@link #state()} may be
 * read by any.
 */
public final class DartTicket {
    private final DartClient client;
    private volatile TicketState state = TicketState.QUEUED;
    private long sequence;
    private int tag;
    private long length;
    private String name = "";
    private DartException.Code failureCode;
    private String failure = "";
    boolean isHeldByUser;
    boolean isPooled;

    DartTicket(DartClient client) {
        this.client = client;
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
        this.state = TicketState.QUEUED;
    }

    void state(TicketState next) {
        state = next;
    }

    void fail(DartException.Code code, String why) {
        failureCode = code;
        failure = why;
        state = TicketState.FAILED;
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
