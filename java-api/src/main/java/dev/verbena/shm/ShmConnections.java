package dev.verbena.shm;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The connections of one transport, and the events about them that wait for {@code poll}. softnic
 * keeps the control words; this keeps what Java needs beside. Owned by the transport's thread.
 *
 * <p>A handle is a number that no other connection of this process had or will have, and in its low
 * bits the place in the table: a stale handle finds the wrong number there and is refused.
 */
final class ShmConnections {
    private static final int INDEX_BITS = 15;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final AtomicLong NUMBERS = new AtomicLong();

    /** Rounds of {@code shm_control} in one go. */
    private static final int CONTROL_ROUNDS_MAX = 64;

    /** Places for connects that failed at once and wait to be reported. */
    private static final int EXTRA = 16;

    private final long shm;
    private final NativeScratch scratch;
    private final CompletionRing completions;
    private final TransportContext context;
    private final ShmConnection[] byIndex;
    private final int[] freeIndexes;
    private int freeCount;
    private final Long2ObjectHashMap<ShmConnection> byNative = new Long2ObjectHashMap<>();
    private final ShmConnection[] readable;
    private int readableCount;
    private int readableStart;

    /** Most operations go where the one before went. Handles are never given out twice. */
    private ShmConnection lastUsed;

    private final ArrayDeque<ShmEvent> events = new ArrayDeque<>();

    ShmConnections(
            long shm,
            NativeScratch scratch,
            CompletionRing completions,
            TransportContext context,
            int connectionsMax) {
        this.shm = shm;
        this.scratch = scratch;
        this.completions = completions;
        this.context = context;
        this.byIndex = new ShmConnection[connectionsMax + EXTRA];
        this.freeIndexes = new int[connectionsMax + EXTRA];
        this.readable = new ShmConnection[connectionsMax + EXTRA];
        for (int index = byIndex.length - 1; index >= 0; index--) {
            freeIndexes[freeCount++] = index;
        }
    }

    /** The connection of a handle whatever its state, or null. */
    ShmConnection find(long handle) {
        int index = (int) handle & INDEX_MASK;
        if (index >= byIndex.length) {
            return null;
        }
        ShmConnection connection = byIndex[index];
        return connection != null && connection.handle == handle ? connection : null;
    }

    /** The connection of a handle if operations can be posted on it, or null. */
    ShmConnection open(long handle) {
        ShmConnection connection = lastUsed;
        if (connection == null || connection.handle != handle) {
            connection = find(handle);
            lastUsed = connection;
        }
        return connection != null && connection.state == ShmConnection.OPEN ? connection : null;
    }

    /** The connection that a message token names by its place. */
    ShmConnection at(int index) {
        return index < byIndex.length ? byIndex[index] : null;
    }

    private ShmConnection add(long nativeHandle, String peerName, long incarnation) {
        int index = freeIndexes[--freeCount];
        long handle = NUMBERS.incrementAndGet() << INDEX_BITS | index;
        ShmConnection connection =
                new ShmConnection(index, handle, nativeHandle, peerName, incarnation, scratch);
        byIndex[index] = connection;
        if (nativeHandle > 0) {
            byNative.put(nativeHandle, connection);
        }
        return connection;
    }

    private void remove(ShmConnection connection) {
        lastUsed = null;
        byIndex[connection.index] = null;
        freeIndexes[freeCount++] = connection.index;
    }

    // ---- calls of the contract ----

    long connect(
            ShmAddress address,
            DirectBuffer privateData,
            int offset,
            int length,
            long userContext,
            long timeoutNs) {
        if (freeCount == 0) {
            return Transport.BACK_PRESSURED;
        }
        if (!address.job().equals(context.job())) {
            String reason =
                    "job '" + address.job() + "' is not ours, which is '" + context.job() + "'";
            return failed(address, userContext, Status.REFUSED, reason);
        }
        for (int i = 0; i < length; i++) {
            UnsafeApi.putByte(null, scratch.privateData + i, privateData.getByte(offset + i));
        }
        long result =
                softnic.shm_connect(
                        shm,
                        scratch.reset().string(address.name()),
                        address.incarnation(),
                        scratch.privateData,
                        length,
                        0,
                        Math.max(0, timeoutNs),
                        scratch.why(),
                        Layout.SNIC_WHY_MAX);
        if (result == -Errno.EAGAIN) {
            return Transport.BACK_PRESSURED;
        }
        if (result <= 0) {
            int errno = (int) -result;
            String reason =
                    Errno.exception("shm_connect", -errno, scratch.explanation()).getMessage();
            return failed(address, userContext, whyNot(errno, address), reason);
        }
        ShmConnection connection = add(result, address.name(), address.incarnation());
        connection.connecting(userContext);
        return connection.handle;
    }

    /** An incarnation that is gone does not come back; without one, somebody may still come. */
    private static int whyNot(int errno, ShmAddress address) {
        return switch (errno) {
            case Errno.ESRCH -> Status.PEER_DEAD;
            case Errno.ECONNREFUSED -> Status.NOT_LISTENING;
            case Errno.ENOENT -> address.incarnation() == 0 ? Status.NOT_LISTENING : Status.REFUSED;
            default -> Status.REFUSED;
        };
    }

    private long failed(ShmAddress address, long userContext, int status, String reason) {
        ShmConnection connection = add(0, address.name(), address.incarnation());
        connection.connecting(userContext);
        connection.ended();
        queue(ShmEvent.Kind.FAILED, connection, status, reason);
        return connection.handle;
    }

    int accept(long handle, long userContext) {
        ShmConnection connection = find(handle);
        if (connection == null || connection.state != ShmConnection.OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        connection.accepting(userContext);
        if (softnic.shm_accept(shm, connection.nativeHandle, 0) < 0) {
            byNative.remove(connection.nativeHandle);
            remove(connection);
            return Transport.NOT_CONNECTED;
        }
        connected(connection);
        return Transport.ACCEPTED;
    }

    int reject(long handle) {
        ShmConnection connection = find(handle);
        if (connection == null || connection.state != ShmConnection.OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        softnic.shm_reject(shm, connection.nativeHandle);
        byNative.remove(connection.nativeHandle);
        remove(connection);
        return Transport.ACCEPTED;
    }

    int disconnect(long handle, ShmInbox inbox) {
        ShmConnection connection = find(handle);
        if (connection == null || connection.state >= ShmConnection.DISCONNECTING) {
            return Transport.NOT_CONNECTED;
        }
        if (connection.state == ShmConnection.OFFERED) {
            return reject(handle);
        }
        int retained = inbox.retainedCount(connection);
        if (retained > 0) {
            String what = "%s messages of the connection to '%s' are retained; release them first";
            throw new IllegalStateException(what.formatted(retained, connection.peerName));
        }
        if (connection.isDelivering) {
            connection.disconnectLater();
            return Transport.ACCEPTED;
        }
        disconnect(connection);
        return Transport.ACCEPTED;
    }

    private void disconnect(ShmConnection connection) {
        boolean isWithdrawn = connection.isUntold();
        end(connection);
        events.removeIf(event -> event.connection() == connection);
        if (isWithdrawn) {
            queue(ShmEvent.Kind.FAILED, connection, Status.CANCELLED, "disconnect was called");
        } else {
            remove(connection);
        }
    }

    /** Ends it for both sides. */
    private void end(ShmConnection connection) {
        softnic.shm_disconnect(shm, connection.nativeHandle);
        byNative.remove(connection.nativeHandle);
        unread(connection);
        connection.forget();
        connection.ended();
    }

    /** A retained message was given back; a connection that waited for it may be finished. */
    void released(ShmConnection connection) {
        if (connection.state < ShmConnection.GONE || connection.retainedCount() > 0) {
            return;
        }
        if (connection.state == ShmConnection.GONE) {
            finish(connection);
            connection.ended();
        }
        if (events.stream().noneMatch(event -> event.connection() == connection)) {
            remove(connection);
        }
    }

    /** softnic needs the handle no more. */
    private void finish(ShmConnection connection) {
        softnic.shm_finish(shm, connection.nativeHandle);
        byNative.remove(connection.nativeHandle);
        connection.forget();
    }

    /** The peer wrote nonsense: reports it, and ends the connection for both sides. */
    void corrupt(ShmConnection connection, String what) {
        String reason = "peer '" + connection.peerName + "': " + what;
        end(connection);
        queue(ShmEvent.Kind.LOST, connection, Status.INTERNAL, reason);
        context.errorHandler().onError(new TransportException("shm: " + reason));
    }

    // ---- events from softnic ----

    /** Asks softnic for events about connections. */
    void control() {
        for (int round = 0; round < CONTROL_ROUNDS_MAX; round++) {
            int count = softnic.shm_control(shm, scratch.events, NativeScratch.EVENTS_MAX);
            for (int i = 0; i < count; i++) {
                take(scratch.events + (long) i * Layout.EVENT_SIZE);
            }
            if (count < NativeScratch.EVENTS_MAX) {
                return;
            }
        }
    }

    private void take(long event) {
        int type = UnsafeApi.getInt(null, event + Layout.EVENT_TYPE);
        int status = UnsafeApi.getInt(null, event + Layout.EVENT_STATUS);
        long nativeHandle = UnsafeApi.getLong(null, event + Layout.EVENT_CONNECTION);
        if (type == Layout.SHM_EVENT_CONNECT_REQUEST) {
            requested(event, nativeHandle);
            return;
        }
        ShmConnection connection = byNative.get(nativeHandle);
        if (connection == null) {
            return;
        }
        switch (type) {
            case Layout.SHM_EVENT_CONNECTED -> connected(connection);
            case Layout.SHM_EVENT_CONNECT_FAILED -> failed(connection, status);
            case Layout.SHM_EVENT_PEER_DONE -> connection.peerDone(0);
            case Layout.SHM_EVENT_PEER_LOST -> connection.peerDone(-status);
            default -> throw new IllegalStateException("softnic event " + type);
        }
    }

    private void requested(long event, long nativeHandle) {
        if (freeCount == 0) {
            softnic.shm_reject(shm, nativeHandle);
            return;
        }
        int length =
                (int)
                        Math.min(
                                UnsafeApi.getLong(null, event + Layout.EVENT_LENGTH),
                                Layout.SHM_PRIVATE_MAX);
        long data = UnsafeApi.getLong(null, event + Layout.EVENT_DATA);
        byte[] privateData = new byte[Math.max(0, length)];
        for (int i = 0; i < privateData.length; i++) {
            privateData[i] = UnsafeApi.getByte(null, data + i);
        }
        ShmConnection connection =
                add(
                        nativeHandle,
                        NativeScratch.text(
                                event + Layout.EVENT_PEER, Layout.EVENT_SIZE - Layout.EVENT_PEER),
                        UnsafeApi.getLong(null, event + Layout.EVENT_INCARNATION));
        connection.offered();
        events.add(new ShmEvent(ShmEvent.Kind.REQUEST, connection, 0, Status.OK, "", privateData));
    }

    private void connected(ShmConnection connection) {
        String problem = connection.open(shm);
        connection.connected();
        queue(ShmEvent.Kind.CONNECTED, connection, Status.OK, "");
        if (problem != null) {
            corrupt(connection, problem);
        }
    }

    /** softnic's handle is gone. */
    private void failed(ShmConnection connection, int result) {
        byNative.remove(connection.nativeHandle);
        connection.ended();
        int status =
                switch (-result) {
                    case Errno.ECONNREFUSED, Errno.ESTALE, Errno.ENOENT -> Status.REFUSED;
                    case Errno.ETIMEDOUT -> Status.TIMED_OUT;
                    default -> Status.PEER_DEAD;
                };
        queue(
                ShmEvent.Kind.FAILED,
                connection,
                status,
                connection.reason(-result, context.peerTimeoutNs()));
    }

    // ---- delivery ----

    private void queue(ShmEvent.Kind kind, ShmConnection connection, int status, String reason) {
        events.add(new ShmEvent(kind, connection, completions.lastNumber(), status, reason, null));
    }

    boolean hasEvents() {
        return !events.isEmpty();
    }

    /** Delivers events whose earlier completions were delivered; answers how many. */
    int deliverEvents(TransportHandler handler, int limit) {
        int count = 0;
        while (count < limit
                && !events.isEmpty()
                && !completions.isOutstanding(events.peek().after())) {
            count++;
            deliver(handler, events.poll());
        }
        return count;
    }

    private void deliver(TransportHandler handler, ShmEvent event) {
        ShmConnection connection = event.connection();
        if (event.kind() == ShmEvent.Kind.CONNECTED) {
            if (connection.opened()) {
                readable[readableCount++] = connection;
            }
            handler.onConnected(connection.handle, connection.context);
            return;
        }
        if (event.kind() == ShmEvent.Kind.REQUEST) {
            URI peer =
                    new ShmAddress(context.job(), connection.peerName, connection.peerIncarnation)
                            .uri();
            UnsafeBuffer data = new UnsafeBuffer(event.privateData());
            handler.onConnectRequest(connection.handle, peer, data, 0, data.capacity());
            return;
        }
        if (connection.state == ShmConnection.ENDED && connection.retainedCount() > 0) {
            connection.left();
        } else if (connection.state == ShmConnection.ENDED) {
            remove(connection);
        }
        switch (event.kind()) {
            case FAILED ->
                    handler.onConnectFailed(
                            connection.handle, connection.context, event.status(), event.reason());
            case LOST -> handler.onPeerLost(connection.handle, connection.context, event.reason());
            default -> handler.onDisconnected(connection.handle, connection.context);
        }
    }

    /** True if a ring has a message, or a peer that is done was drained. */
    boolean isReadable() {
        for (int i = 0; i < readableCount; i++) {
            if (readable[i].hasMessage() || readable[i].state == ShmConnection.DRAINING) {
                return true;
            }
        }
        return false;
    }

    /** Delivers messages, each ring at most {@code limitPerRing}; answers how many. */
    int deliverMessages(ShmInbox inbox, TransportHandler handler, int limit, int limitPerRing) {
        int count = 0;
        int rings = readableCount;
        for (int i = 0; i < rings && count < limit && readableCount > 0; i++) {
            if (++readableStart >= readableCount) {
                readableStart = 0;
            }
            ShmConnection connection = readable[readableStart];
            int room = Math.min(limitPerRing, limit - count);
            while (room-- > 0 && isReading(connection) && connection.hasMessage()) {
                count++;
                deliver(connection, inbox, handler);
            }
            if (connection.state == ShmConnection.DRAINING && !connection.hasMessage()) {
                drained(connection);
            }
        }
        return count;
    }

    private void deliver(ShmConnection connection, ShmInbox inbox, TransportHandler handler) {
        try {
            if (!connection.deliver(inbox, handler)) {
                corrupt(connection, "wrote a message whose kind or length makes no sense");
            }
        } finally {
            if (connection.isDisconnectWanted && connection.state == ShmConnection.DISCONNECTING) {
                disconnect(connection);
            }
        }
    }

    private static boolean isReading(ShmConnection connection) {
        return connection.state == ShmConnection.OPEN || connection.state == ShmConnection.DRAINING;
    }

    private void drained(ShmConnection connection) {
        unread(connection);
        if (connection.lostErrno == 0) {
            queue(ShmEvent.Kind.DISCONNECTED, connection, Status.OK, "");
        } else {
            String reason = connection.reason(connection.lostErrno, context.peerTimeoutNs());
            queue(ShmEvent.Kind.LOST, connection, Status.PEER_DEAD, reason);
        }
        if (connection.retainedCount() > 0) {
            connection.gone();
        } else {
            finish(connection);
            connection.ended();
        }
    }

    private void unread(ShmConnection connection) {
        for (int i = 0; i < readableCount; i++) {
            if (readable[i] == connection) {
                readable[i] = readable[--readableCount];
                readable[readableCount] = null;
                return;
            }
        }
    }

    /** Every address becomes unusable; the transport is closed. */
    void forgetAll() {
        for (ShmConnection connection : byIndex) {
            if (connection != null) {
                connection.forget();
            }
        }
        events.clear();
        readableCount = 0;
    }
}
