package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * One end of a connection, a listener, or a member of multicast groups, named by IP addresses:
 * {@code struct rdma_cm_id}. Thread-safe.
 *
 * <p>Calls begin what an event of the channel ends; {@link #await(ConnectionEventType, long)} waits
 * for one event and throws what is not it, so a synchronous program is a call, then a wait. The
 * queue pair is the caller's own, made on a device that he opens ({@link #openDevice}), and taken
 * through its states here; either may be closed first.
 */
public final class ConnectionIdentifier extends ConnectionAddress {
    private static final long NS_PER_MS = 1_000_000L;
    private static final int ETIMEDOUT = 110;

    /** What the kernel takes in place of a backlog that is larger, or none. */
    private static final int BACKLOG_MAX = 1024;

    private QueuePair queue;
    private ConnectionContext context;
    private ConnectionEvent request;
    private int backlog = BACKLOG_MAX;

    ConnectionIdentifier(ConnectionChannel channel, long address, PortSpace space) {
        super(channel, address, space);
        channel.remember(address, this);
    }

    /**
     * Looks for device and route, waiting for both.
     *
     * @throws ConnectionException if there is none
     * @throws VerbsException if that is not known in time, each
     */
    public void resolve(InetSocketAddress target, long timeoutNs) {
        resolveAddress(target, timeoutNs);
        await(ConnectionEventType.ADDRESS_RESOLVED, timeoutNs);
        resolveRoute(timeoutNs);
        await(ConnectionEventType.ROUTE_RESOLVED, timeoutNs);
    }

    /**
     * Hears connections from now on; each is an event {@code CONNECT_REQUEST} with a new
     * identifier. While requests wait, further ones are refused.
     *
     * @param backlog requests that wait at most: so many in the kernel, and so many that were taken
     *     with other identifiers' events; 0 for as many as the kernel allows, 1,024
     */
    public void listen(int backlog) {
        synchronized (lock()) {
            check(
                    "rdma_listen",
                    verbscalls.vv_cm_listen(address(), backlog),
                    "an address is bound first");
            this.backlog = backlog > 0 ? Math.min(backlog, BACKLOG_MAX) : BACKLOG_MAX;
        }
    }

    /** Requests that are kept for this listener at most. Under the lock. */
    int backlog() {
        return backlog;
    }

    /**
     * Waits for somebody to connect to this listener.
     *
     * @return the request, whose identifier the caller accepts or rejects, and closes
     * @throws VerbsException if nobody does in time
     */
    public ConnectionEvent awaitRequest(long timeoutNs) {
        return await(ConnectionEventType.CONNECT_REQUEST, timeoutNs);
    }

    /**
     * Takes a queue pair to INIT (one of datagrams until it may send), so that receives may be
     * posted before the connection is there. {@link #connect} and {@link #accept} do it where it
     * was not done.
     *
     * @throws IllegalArgumentException for a queue pair of another device or kind
     */
    public void prepare(QueuePair queue, ConnectionContext context) {
        prepareWith(queue, context.copy());
    }

    private void prepareWith(QueuePair queue, ConnectionContext context) {
        synchronized (lock()) {
            checkFits(queue);
            long at = channel().memory().argument();
            int mask = attributes(at, VerbsLayout.IBV_QPS_INIT);
            if (!space().isDatagram()) {
                CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_ACCESS_FLAGS, context.access);
            }
            queue.change(at, mask, "to INIT");
            if (space().isDatagram()) {
                queue.toReadyToReceive(new PathContext(), null);
                queue.toReadyToSend(new PathContext());
            }
            this.queue = queue;
            this.context = context;
        }
    }

    private void checkFits(QueuePair queue) {
        boolean isDatagram = queue.type() == QueuePairType.UD;
        String device = queue.domain().device().info().name();
        if (isDatagram != space().isDatagram() || !device.equals(deviceName())) {
            throw new IllegalArgumentException(
                    "%s of kind %s is not for %s of %s at %s"
                            .formatted(queue, queue.type(), this, space(), deviceName()));
        }
    }

    /** What the kernel says that a queue pair needs in a state; answers the mask. */
    private int attributes(long at, int state) {
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, state);
        int mask = verbscalls.vv_cm_init_qp_attr(address(), at);
        check("rdma_init_qp_attr", mask, "the identifier must be resolved or requested first");
        return mask;
    }

    /**
     * Begins to connect; ends with {@code ESTABLISHED}, or {@code REJECTED}, {@code UNREACHABLE},
     * {@code CONNECT_ERROR}. A peer that does not answer at all is reported after a minute or more:
     * wait for as long as you like, and close.
     *
     * @throws IllegalArgumentException for a queue pair of another device or kind, or too much
     *     private data
     * @throws VerbsException if it cannot begin
     */
    public void connect(QueuePair queue, ConnectionContext context) {
        ConnectionContext wanted = context.copy();
        wanted.checkPrivateData(space().connectDataMax());
        synchronized (lock()) {
            prepareOnce(queue, wanted);
            check(
                    "rdma_connect",
                    verbscalls.vv_cm_connect(address(), parameters(null)),
                    "the route is resolved first");
        }
    }

    private void prepareOnce(QueuePair queue, ConnectionContext context) {
        if (this.queue == queue) {
            this.context = context;
        } else {
            prepareWith(queue, context);
        }
    }

    /**
     * Accepts a request; ends with {@code ESTABLISHED}, of datagrams at once.
     *
     * @throws IllegalArgumentException as {@link #connect}
     * @throws VerbsException if nobody asked, or does not wait any more; a queue pair that was
     *     ready to receive already is in ERROR then
     */
    public void accept(QueuePair queue, ConnectionContext context) {
        ConnectionContext wanted = context.copy();
        wanted.checkPrivateData(space().acceptDataMax());
        synchronized (lock()) {
            prepareOnce(queue, wanted);
            if (space().isDatagram()) {
                acceptPrepared(null);
                return;
            }
            toReadyToReceive();
            try {
                toReadyToSend();
                acceptPrepared(request);
            } catch (VerbsException e) {
                giveUpQueue(e);
                throw e;
            }
        }
    }

    private void acceptPrepared(ConnectionEvent request) {
        check(
                "rdma_accept",
                verbscalls.vv_cm_accept(address(), parameters(request)),
                "only what came with a CONNECT_REQUEST is accepted, once");
    }

    /** Where those of the prepared connection are written. */
    private long parameters(ConnectionEvent request) {
        CallMemory memory = channel().memory();
        long at = memory.argument();
        context.fill(at, memory.second(), queue, request);
        return at;
    }

    /** It has no peer: what is posted is flushed, and after a reset it may be prepared anew. */
    private void giveUpQueue(VerbsException cause) {
        try {
            queue.toErrorIfOpen();
        } catch (VerbsException e) {
            cause.addSuppressed(e);
        }
        queue = null;
    }

    private void toReadyToReceive() {
        long at = channel().memory().argument();
        int mask = attributes(at, VerbsLayout.IBV_QPS_RTR);
        limit(at + VerbsLayout.QP_ATTR_MAX_DEST_RD_ATOMIC, context.granted(request));
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_MIN_RNR_TIMER, context.notReadyTimerCode);
        queue.change(at, mask, "to ready to receive");
    }

    private void toReadyToSend() {
        long at = channel().memory().argument();
        int mask = attributes(at, VerbsLayout.IBV_QPS_RTS);
        limit(at + VerbsLayout.QP_ATTR_MAX_RD_ATOMIC, context.depth(request));
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_TIMEOUT, context.timeoutCode);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_RETRY_CNT, context.retries);
        queue.change(at, mask, "to ready to send");
    }

    /** The kernel says what the peer offers, which may be more than is wanted here. */
    private static void limit(long at, int max) {
        CallMemory.putByte(at, Math.min(CallMemory.getByte(at), max));
    }

    /** The peer has accepted: completes the connection. Under the lock; never throws. */
    ConnectionEvent complete(ConnectionEvent response) {
        try {
            toReadyToReceive();
            toReadyToSend();
            check("rdma_establish", verbscalls.vv_cm_establish(address()), "");
            return response.become(ConnectionEventType.ESTABLISHED, 0);
        } catch (VerbsException e) {
            verbscalls.vv_cm_reject(address(), 0, 0);
            return response.become(ConnectionEventType.CONNECT_ERROR, -e.errno());
        } catch (IllegalStateException queueIsClosed) {
            verbscalls.vv_cm_reject(address(), 0, 0);
            return response.become(ConnectionEventType.CONNECT_ERROR, -VerbsErrno.EBADF);
        }
    }

    /** The peer waits for an answer, which frees his identifier. Under the lock; never throws. */
    ConnectionEvent answerDisconnect(ConnectionEvent event) {
        if (queue != null && !queue.isClosed()) {
            try {
                queue.toErrorIfOpen();
            } catch (VerbsException deviceHasGone) {
                // the event reports what matters
            }
        }
        if (hasDevice()) {
            verbscalls.vv_cm_disconnect(address());
        }
        return event;
    }

    /** Under the lock. */
    void requested(ConnectionEvent event) {
        this.request = event;
    }

    /**
     * Refuses a request.
     *
     * @param privateData what the peer's event has; at most {@link PortSpace#rejectDataMax}
     * @throws VerbsException if nobody asked
     */
    public void reject(byte[] privateData) {
        if (privateData.length > space().rejectDataMax()) {
            throw new IllegalArgumentException(
                    "%s bytes of private data; at most %s travel with a rejection"
                            .formatted(privateData.length, space().rejectDataMax()));
        }
        synchronized (lock()) {
            long at = channel().memory().argument();
            CallMemory.putBytes(at, privateData);
            check(
                    "rdma_reject",
                    verbscalls.vv_cm_reject(address(), at, privateData.length),
                    "only what came with a CONNECT_REQUEST is rejected, once");
        }
    }

    /**
     * Ends the connection: what is posted is flushed, and both sides get {@code DISCONNECTED}, this
     * one when the peer takes his.
     *
     * @throws IllegalStateException before it has a device
     * @throws VerbsException if it is not connected
     */
    public void disconnect() {
        synchronized (lock()) {
            checkHasDevice(); // some versions of librdmacm follow the pointer without a look
            long address = address();
            if (queue != null) {
                queue.toErrorIfOpen();
            }
            check("rdma_disconnect", verbscalls.vv_cm_disconnect(address), "is it connected?");
        }
    }

    /**
     * Tells rdma_cm what the device said of the queue pair ({@code rdma_notify}). After {@link
     * AsyncEvent#COMMUNICATION_ESTABLISHED} the peer has sent already although its last word of the
     * handshake was lost: what was accepted is established then, with the event of that name.
     *
     * @param event of {@link RdmaDevice#awaitEvent}
     * @throws IllegalStateException before it has a device
     * @throws VerbsException for an event that rdma_cm does nothing about, or if it does not wait
     *     for that one
     */
    public void report(AsyncEvent event) {
        synchronized (lock()) {
            checkHasDevice();
            check(
                    "rdma_notify",
                    verbscalls.vv_cm_notify(address(), event.type()),
                    event.typeName() + "; only COMM_EST and PATH_MIG mean something to it");
        }
    }

    /**
     * Lets its events arrive at another channel from now on ({@code rdma_migrate_id}): for a thread
     * of its own, for example. This object is closed then, and another takes its place. Events that
     * have arrived and were not taken go with it.
     *
     * @return the identifier as it is now, to be closed in place of this one
     * @throws IllegalArgumentException for the channel that it has
     * @throws IllegalStateException after close, of either; or of a listener while requests that
     *     arrived were not taken
     * @throws VerbsException if the library refuses; it is as before then
     */
    public ConnectionIdentifier migrate(ConnectionChannel other) {
        if (other == channel()) {
            throw new IllegalArgumentException(this + " is of " + other + " already");
        }
        boolean isThisFirst = channel().order() < other.order();
        synchronized (isThisFirst ? channel() : other) {
            synchronized (isThisFirst ? other : channel()) {
                return migrateLocked(other);
            }
        }
    }

    private ConnectionIdentifier migrateLocked(ConnectionChannel other) {
        long address = address();
        long to = other.address();
        channel().checkMayMigrate(this);
        check("rdma_migrate_id", verbscalls.vv_cm_migrate(address, to), "");
        ConnectionIdentifier moved = new ConnectionIdentifier(other, address, space());
        moved.queue = queue;
        moved.context = context;
        moved.request = request;
        moved.backlog = backlog;
        channel().moveEvents(this, moved);
        abandon();
        return moved;
    }

    /**
     * Begins to take part in a multicast group; ends with {@code MULTICAST_JOIN}, whose {@link
     * ConnectionEvent#group} the queue pair then joins, unless it only sends.
     *
     * @throws VerbsException if it cannot begin
     */
    public void joinMulticast(InetAddress group, boolean isSendOnly) {
        synchronized (lock()) {
            long at =
                    SocketAddresses.write(
                            channel().memory().argument(), new InetSocketAddress(group, 0));
            check(
                    "rdma_join_multicast",
                    verbscalls.vv_cm_join(address(), at, isSendOnly ? 1 : 0),
                    "an address is bound or resolved first; datagrams only");
        }
    }

    /**
     * Leaves a multicast group.
     *
     * @throws VerbsException if it is not a member
     */
    public void leaveMulticast(InetAddress group) {
        synchronized (lock()) {
            long at =
                    SocketAddresses.write(
                            channel().memory().argument(), new InetSocketAddress(group, 0));
            check("rdma_leave_multicast", verbscalls.vv_cm_leave(address(), at), "is it a member?");
        }
    }

    /**
     * The next event of this identifier, or, of a listener, the next request at it.
     *
     * @param timeoutNs 0: do not wait
     * @return null if none came
     * @throws IllegalStateException after close, by whichever thread
     */
    public ConnectionEvent await(long timeoutNs) {
        return channel().await(this, timeoutNs);
    }

    /**
     * Waits for an event.
     *
     * @throws ConnectionException if another one comes; of a rejection it has the private data
     * @throws VerbsException with {@code ETIMEDOUT} if none comes in time
     */
    public ConnectionEvent await(ConnectionEventType expected, long timeoutNs) {
        ConnectionEvent event = await(timeoutNs);
        while (event != null && event.type() != expected) {
            if (event.type() != ConnectionEventType.TIMEWAIT_EXIT) {
                throw new ConnectionException(event, expected);
            }
            event = await(timeoutNs);
        }
        if (event == null) {
            throw new VerbsException(
                    "waiting for " + expected,
                    ETIMEDOUT,
                    toString(),
                    "nothing came in " + timeoutNs / NS_PER_MS + " ms; close it and try again");
        }
        return event;
    }

    @Override
    void onClosed(long formerAddress) {
        channel().forget(formerAddress, this);
    }
}
