package dev.verbena.verbs;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.rdma.VerbsAccess;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.SystemNanoClock;

/**
 * Where the events of connection identifiers arrive: {@code struct rdma_event_channel}.
 * Thread-safe: all calls of a channel and its identifiers are made under one lock, which is never
 * held while waiting.
 *
 * <p>Each event is copied and acknowledged before anybody sees it, so no identifier waits for an
 * acknowledgement when it is closed. Events are had in two ways that may be mixed: the next one of
 * any identifier ({@link #await}), or of one ({@link ConnectionIdentifier#await(long)}); who takes
 * an event of another identifier keeps it for whom it concerns.
 */
public final class ConnectionChannel extends VerbsObject {

    /** Longest sleep: another thread may have taken what this one waits for. */
    private static final long SLEEP_NS = 50_000_000L;

    private static final AtomicLong CREATED = new AtomicLong();

    private final CallMemory memory = new CallMemory();
    private final Long2ObjectHashMap<ConnectionIdentifier> identifiers = new Long2ObjectHashMap<>();
    private final ArrayDeque<ConnectionEvent> kept = new ArrayDeque<>();
    private final int file;
    private final long order = CREATED.incrementAndGet();

    private ConnectionChannel(long address) {
        super(
                "connection channel "
                        + CallMemory.getInt(address + VerbsLayout.RDMA_EVENT_CHANNEL_FD),
                address,
                DestroyCall.CONNECTION_CHANNEL,
                List.of());
        this.file = CallMemory.getInt(address + VerbsLayout.RDMA_EVENT_CHANNEL_FD);
        check("fcntl", verbscalls.vv_set_nonblocking(file));
    }

    /** Why there are no connection channels here and what to do about it; null if there are. */
    public static String unavailabilityCause() {
        return VerbsAccess.rdmaCmUnavailabilityCause();
    }

    /**
     * Opens a channel.
     *
     * @throws IllegalStateException without librdmacm, with the remedy
     * @throws VerbsException if the kernel has no rdma_cm
     */
    public static ConnectionChannel open() {
        VerbsAccess.openRdmaCm();
        long made =
                CallMemory.made(
                        "rdma_create_event_channel",
                        "this process",
                        "is the module rdma_ucm loaded, and may this user open"
                                + " /dev/infiniband/rdma_cm?",
                        verbscalls::vv_cm_create_channel);
        return adopt(null, made, DestroyCall.CONNECTION_CHANNEL, ConnectionChannel::new);
    }

    /**
     * Makes an identifier.
     *
     * @throws VerbsException if the kernel has no RDMA device, or no more identifiers
     */
    public ConnectionIdentifier createIdentifier(PortSpace space) {
        synchronized (lock()) {
            int result = verbscalls.vv_cm_create_id(address(), space.code(), memory.out());
            check("rdma_create_id", result);
            return adopt(memory.made(), space);
        }
    }

    private ConnectionIdentifier adopt(long made, PortSpace space) {
        return adopt(
                this,
                made,
                DestroyCall.CONNECTION_IDENTIFIER,
                id -> new ConnectionIdentifier(this, id, space));
    }

    /**
     * The next event of any identifier of this channel, acknowledged. Waits without holding the
     * lock.
     *
     * @param timeoutNs 0: do not wait; rounded up to whole milliseconds
     * @return null if none came
     * @throws IllegalStateException after close
     */
    public ConnectionEvent await(long timeoutNs) {
        return await(null, timeoutNs);
    }

    /** The next event of this identifier; of any, if it is null. */
    ConnectionEvent await(ConnectionIdentifier about, long timeoutNs) {
        long deadlineNs = Deadlines.after(SystemNanoClock.INSTANCE.nanoTime(), timeoutNs);
        while (true) {
            synchronized (lock()) {
                address();
                ConnectionEvent event = take(about);
                if (event != null) {
                    return event;
                }
            }
            long leftNs = deadlineNs - SystemNanoClock.INSTANCE.nanoTime();
            if (leftNs <= 0) {
                return null;
            }
            sleep(Math.min(leftNs, SLEEP_NS));
        }
    }

    private void sleep(long timeoutNs) {
        beginWaiting();
        try {
            check("poll", verbscalls.vv_wait(file, Deadlines.toMs(timeoutNs)));
        } finally {
            endWaiting();
        }
    }

    /** What was kept for it, or else what the kernel has. Under the lock. */
    private ConnectionEvent take(ConnectionIdentifier about) {
        if (about != null) {
            about.address();
        }
        for (Iterator<ConnectionEvent> each = kept.iterator(); each.hasNext(); ) {
            ConnectionEvent event = each.next();
            if (concerns(event, about)) {
                each.remove();
                return event;
            }
        }
        ConnectionEvent event = takeNew();
        while (event != null && !concerns(event, about)) {
            keep(event);
            event = takeNew();
        }
        return event;
    }

    /** Keeps as many requests as their listener's backlog and refuses further ones. */
    private void keep(ConnectionEvent event) {
        ConnectionIdentifier listener = event.listener();
        boolean isRoom = listener == null || requestsKept(listener) < listener.backlog();
        if (isRoom || !isRefused(event)) {
            kept.add(event);
        }
    }

    private int requestsKept(ConnectionIdentifier listener) {
        int count = 0;
        for (ConnectionEvent event : kept) {
            count += event.listener() == listener ? 1 : 0;
        }
        return count;
    }

    /**
     * Closes a connection that nobody has accepted. False if C refuses that: the event is kept
     * then, so that its taker can try again.
     */
    private static boolean isRefused(ConnectionEvent request) {
        try {
            request.identifier().close();
            return true;
        } catch (VerbsException e) {
            return false;
        }
    }

    private static boolean concerns(ConnectionEvent event, ConnectionIdentifier about) {
        ConnectionIdentifier whose =
                event.listener() != null ? event.listener() : event.identifier();
        return about == null || whose == about;
    }

    /** The kernel's next event, copied and acknowledged; null if there is none. Under the lock. */
    private ConnectionEvent takeNew() {
        int result = verbscalls.vv_cm_get_event(address(), memory.out());
        if (result == -VerbsErrno.EAGAIN) {
            return null;
        }
        check("rdma_get_cm_event", result);
        long at = memory.made();
        ConnectionEvent event;
        try {
            event = copy(at);
        } finally {
            verbscalls.vv_cm_ack_event(at);
        }
        return switch (event.type()) {
            case CONNECT_RESPONSE -> event.identifier().complete(event);
            case DISCONNECTED -> event.identifier().answerDisconnect(event);
            default -> event;
        };
    }

    private ConnectionEvent copy(long at) {
        long id = CallMemory.getLong(at + VerbsLayout.RDMA_CM_EVENT_ID);
        long heardBy = CallMemory.getLong(at + VerbsLayout.RDMA_CM_EVENT_LISTEN_ID);
        ConnectionIdentifier listener = heardBy == 0 ? null : identifiers.get(heardBy);
        ConnectionIdentifier about = identifiers.get(id);
        if (about == null && listener != null) {
            about = adopt(id, listener.space());
        }
        if (about == null) {
            throw new IllegalStateException("rdma_get_cm_event answers an unknown identifier");
        }
        ConnectionEvent event =
                new ConnectionEvent(at, about, listener, about.space().isDatagram());
        if (event.type() == ConnectionEventType.CONNECT_REQUEST) {
            about.requested(event);
        }
        return event;
    }

    /** Arguments and results of calls; under the lock. */
    CallMemory memory() {
        return memory;
    }

    void remember(long address, ConnectionIdentifier identifier) {
        identifiers.put(address, identifier);
    }

    /**
     * An identifier was destroyed: events of it are dropped, and connections that nobody has seen
     * yet refused. Under the lock.
     */
    void forget(long address, ConnectionIdentifier identifier) {
        identifiers.remove(address);
        for (ConnectionEvent event : List.copyOf(kept)) {
            if (concerns(event, identifier) && (event.listener() == null || isRefused(event))) {
                kept.remove(event);
            }
        }
    }

    /** Of two channels the one with the lower number is locked first. */
    long order() {
        return order;
    }

    /** Requests that are kept have identifiers of this channel, which stay here. Under the lock. */
    void checkMayMigrate(ConnectionIdentifier identifier) {
        if (requestsKept(identifier) > 0) {
            throw new IllegalStateException(
                    "requests wait at " + identifier + "; take them, then let it migrate");
        }
    }

    /** What was kept for an identifier goes with it to its new channel. Under both locks. */
    void moveEvents(ConnectionIdentifier from, ConnectionIdentifier to) {
        for (ConnectionEvent event : List.copyOf(kept)) {
            if (concerns(event, from)) {
                kept.remove(event);
                to.channel().kept.add(event.about(to));
            }
        }
    }

    @Override
    void onClosed(long formerAddress) {
        memory.free();
    }
}
