package dev.verbena.shm;

import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.ConnectionEvents;
import dev.verbena.transport.core.ConnectionTable;
import java.net.URI;
import java.util.function.Consumer;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The connections of one transport, and the events about them that wait for {@code poll}. softnic
 * keeps the control words; this keeps what Java needs beside. Owned by the transport's thread.
 */
final class ShmConnections {
    /** Rounds of {@code shm_control} in one go. */
    private static final int CONTROL_ROUNDS_MAX = 64;

    /** Places for connects that failed at once and wait to be reported. */
    private static final int EXTRA = 16;

    private final long shm;
    private final NativeScratch scratch;
    private final CompletionRing completions;
    private final TransportContext context;
    private final ConnectionTable<ShmConnection> table;
    private final Long2ObjectHashMap<ShmConnection> byNative = new Long2ObjectHashMap<>();
    private final ShmConnection[] readable;
    private int readableCount;
    private int readableStart;

    /** Most operations go where the one before went. Handles are never given out twice. */
    private ShmConnection lastUsed;

    private final ConnectionEvents<ShmConnection> events = new ConnectionEvents<>();

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
        this.table = new ConnectionTable<>(new ShmConnection[connectionsMax + EXTRA]);
        this.readable = new ShmConnection[connectionsMax + EXTRA];
    }

    /** The connection of a handle if operations can be posted on it, or null. */
    ShmConnection open(long handle) {
        ShmConnection connection = lastUsed;
        if (connection == null || connection.handle != handle) {
            connection = table.find(handle);
            lastUsed = connection;
        }
        return connection != null && connection.state == ShmConnection.OPEN ? connection : null;
    }

    /** The connection that a message token names by its place. */
    ShmConnection at(int index) {
        return table.at(index);
    }

    private ShmConnection add(long nativeHandle, String peerName, long incarnation) {
        ShmConnection connection =
                table.add(
                        handle ->
                                new ShmConnection(
                                        handle, nativeHandle, peerName, incarnation, scratch));
        if (nativeHandle > 0) {
            byNative.put(nativeHandle, connection);
        }
        return connection;
    }

    private void remove(ShmConnection connection) {
        lastUsed = null;
        table.remove(connection);
    }

    // ---- calls of the contract ----

    long connect(
            ShmAddress address,
            DirectBuffer privateData,
            int offset,
            int length,
            long userContext,
            long timeoutNs) {
        if (table.isFull()) {
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
        connection.become(ShmConnection.ENDED);
        tellFailed(connection, status, reason);
        return connection.handle;
    }

    int accept(long handle, long userContext) {
        ShmConnection connection = table.find(handle);
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
        ShmConnection connection = table.find(handle);
        if (connection == null || connection.state != ShmConnection.OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        softnic.shm_reject(shm, connection.nativeHandle);
        byNative.remove(connection.nativeHandle);
        remove(connection);
        return Transport.ACCEPTED;
    }

    int disconnect(long handle, ShmInbox inbox) {
        ShmConnection connection = table.find(handle);
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
        events.forget(connection);
        if (isWithdrawn) {
            tellFailed(connection, Status.CANCELLED, "disconnect was called");
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
        connection.become(ShmConnection.ENDED);
    }

    /** A retained message was given back; a connection that waited for it may be finished. */
    void released(ShmConnection connection) {
        if (connection.state < ShmConnection.GONE || connection.retainedCount() > 0) {
            return;
        }
        if (connection.state == ShmConnection.GONE) {
            finish(connection);
            connection.become(ShmConnection.ENDED);
        }
        if (!events.isAwaitedBy(connection)) {
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
        tellLost(connection, reason);
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
        if (table.isFull()) {
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
        connection.become(ShmConnection.OFFERED);
        events.add(connection, 0, handler -> request(handler, connection, privateData));
    }

    private void request(TransportHandler handler, ShmConnection connection, byte[] privateData) {
        URI peer =
                new ShmAddress(context.job(), connection.peerName, connection.peerIncarnation)
                        .uri();
        UnsafeBuffer data = new UnsafeBuffer(privateData);
        handler.onConnectRequest(connection.handle, peer, data, 0, data.capacity());
    }

    private void connected(ShmConnection connection) {
        String problem = connection.open(shm);
        connection.become(ShmConnection.ACCEPTED);
        tell(
                connection,
                handler -> {
                    if (connection.opened()) {
                        readable[readableCount++] = connection;
                    }
                    handler.onConnected(connection.handle, connection.context);
                });
        if (problem != null) {
            corrupt(connection, problem);
        }
    }

    /** softnic's handle is gone. */
    private void failed(ShmConnection connection, int result) {
        byNative.remove(connection.nativeHandle);
        connection.become(ShmConnection.ENDED);
        int status =
                switch (-result) {
                    case Errno.ECONNREFUSED, Errno.ESTALE, Errno.ENOENT -> Status.REFUSED;
                    case Errno.ETIMEDOUT -> Status.TIMED_OUT;
                    default -> Status.PEER_DEAD;
                };
        tellFailed(connection, status, connection.reason(-result, context.peerTimeoutNs()));
    }

    // ---- delivery ----

    /** The user gets it after the completions that there are by now. */
    private void tell(ShmConnection connection, Consumer<TransportHandler> event) {
        events.add(connection, completions.lastNumber(), event);
    }

    /** As that; it is the last event of the connection. */
    private void tellEnd(ShmConnection connection, Consumer<TransportHandler> event) {
        tell(
                connection,
                handler -> {
                    if (connection.state == ShmConnection.ENDED && connection.retainedCount() > 0) {
                        connection.become(ShmConnection.LEFT);
                    } else if (connection.state == ShmConnection.ENDED) {
                        remove(connection);
                    }
                    event.accept(handler);
                });
    }

    private void tellFailed(ShmConnection connection, int status, String reason) {
        tellEnd(
                connection,
                handler ->
                        handler.onConnectFailed(
                                connection.handle, connection.context, status, reason));
    }

    private void tellLost(ShmConnection connection, String reason) {
        tellEnd(
                connection,
                handler -> handler.onPeerLost(connection.handle, connection.context, reason));
    }

    boolean hasEvents() {
        return !events.isEmpty();
    }

    /** Delivers events whose earlier completions were delivered; answers how many. */
    int deliverEvents(TransportHandler handler, int limit) {
        return events.deliver(handler, limit, completions.deliveredCount());
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
            tellEnd(
                    connection,
                    handler -> handler.onDisconnected(connection.handle, connection.context));
        } else {
            tellLost(connection, connection.reason(connection.lostErrno, context.peerTimeoutNs()));
        }
        if (connection.retainedCount() > 0) {
            connection.become(ShmConnection.GONE);
        } else {
            finish(connection);
            connection.become(ShmConnection.ENDED);
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
        for (int i = 0; i < table.capacity(); i++) {
            if (table.at(i) != null) {
                table.at(i).forget();
            }
        }
        events.clear();
        readableCount = 0;
    }
}
