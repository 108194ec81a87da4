package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.TicketState;
import java.util.Objects;
import java.util.function.Consumer;

/** A ticket as the client advances it. */
final class Ticket implements DartTicket {
    private final ClientEngine client;
    private final TicketNotifications notifications;
    private Consumer<DartTicket> handler;
    private boolean isNotifying;
    private volatile TicketState state = TicketState.QUEUED;
    private long sequence;
    private int tag;
    private long length;
    private String name = "";
    private DartException.Code failureCode;
    private String failure = "";
    private boolean isHeldByUser;
    private boolean isPooled;

    Ticket(ClientEngine client, TicketNotifications notifications) {
        this.client = client;
        this.notifications = notifications;
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

    /** Whether its user had it until now. */
    boolean leaveUser() {
        boolean was = isHeldByUser;
        isHeldByUser = false;
        return was;
    }

    /** Whether nobody uses it, so that it may be pooled; it is from now on. */
    boolean enterPool() {
        boolean isFree = !isHeldByUser && !isPooled && !isNotifying && state.isFinal();
        isPooled |= isFree;
        return isFree;
    }

    private void changed() {
        if (handler != null && !isNotifying && !isPooled && state.isFinal()) {
            isNotifying = true;
            notifications.add(this);
        }
    }

    /** Calls the handler, outside of every step of the protocol. */
    void callHandler() {
        isNotifying = false;
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

    @Override
    public TicketState state() {
        return state;
    }

    @Override
    public long sequence() {
        return sequence;
    }

    @Override
    public int tag() {
        return tag;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public DartException.Code failureCode() {
        return failureCode;
    }

    @Override
    public String failure() {
        return failure;
    }

    @Override
    public void await(TicketState atLeast, long timeoutNs) {
        client.await(this, atLeast, timeoutNs);
    }

    @Override
    public DartTicket onFinal(Consumer<DartTicket> handler) {
        this.handler = Objects.requireNonNull(handler, "handler");
        changed();
        return this;
    }

    @Override
    public void release() {
        client.release(this);
    }

    @Override
    public String toString() {
        return "message %s ('%s', tag %s, %s bytes): %s%s"
                .formatted(
                        sequence,
                        name,
                        tag,
                        length,
                        state,
                        failure.isEmpty() ? "" : ", " + failure);
    }
}
