package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/** A transport of the model; everything happens under the network's lock. */
final class ModelTransport implements Transport {
    private static final int PRIVATE_DATA_MAX = 256;
    private static final int COMPLETION = 0;
    private static final int MESSAGE = 1;
    private static final int NOTIFY = 2;
    private static final int REQUEST = 3;
    private static final int CONNECTED = 4;
    private static final int FAILED = 5;
    private static final int DISCONNECTED = 6;
    private static final int LOST = 7;

    final ModelNetwork network;
    final long incarnation;
    final Long2ObjectHashMap<ModelRegion> regions = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Connection> connections = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<Event> retained = new Long2ObjectHashMap<>();
    private final ArrayDeque<Event> events = new ArrayDeque<>();
    private final ArrayDeque<Event> free = new ArrayDeque<>();
    private final TransportLimits limits;
    private final String name;
    private final URI uri;
    private volatile Thread owner;
    private boolean isListening;
    private boolean isWoken;
    private boolean isPolling;
    private boolean isClosed;
    private int outstanding;
    private int slotsUsed;
    private Event handled;

    /** One end of a connection. */
    private static final class Connection {
        long handle;
        long context;
        ModelTransport peer;
        long peerHandle;
        boolean isOpen;
        boolean isOffered;
        long deadlineNs;
        int inFlight;
    }

    private static final class Event {
        int kind;
        Connection connection;
        long handle;
        int operation;
        long context;
        int status;
        long value;
        long offset;
        long length;
        long token;
        boolean isRetained;
        ModelRegion local;
        ModelRegion[] more;
        String text;
        URI peer;
        UnsafeBuffer payload;
    }

    ModelTransport(ModelNetwork network, String name, TransportContext context) {
        this.network = network;
        this.name = name;
        this.incarnation = network.numbers.getAndIncrement();
        this.uri =
                URI.create("model://" + context.job() + "/" + name + "?incarnation=" + incarnation);
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        context.connectionsMax(),
                        PRIVATE_DATA_MAX);
    }

    private void own() {
        Thread current = Thread.currentThread();
        if (owner == null) {
            owner = current;
        } else if (owner != current) {
            throw new IllegalStateException(
                    "transport of thread '"
                            + owner.getName()
                            + "' used by '"
                            + current.getName()
                            + "'");
        }
    }

    private void ownOpen() {
        own();
        if (isClosed) {
            throw new IllegalStateException("transport " + uri + " is closed");
        }
    }

    private Event event(int kind, Connection connection) {
        Event event = free.poll();
        if (event == null) {
            event = new Event();
        }
        event.kind = kind;
        event.connection = connection;
        event.handle = connection == null ? 0 : connection.handle;
        event.context = connection == null ? 0 : connection.context;
        event.local = null;
        event.more = null;
        event.isRetained = false;
        return event;
    }

    private void deliver(Event event) {
        events.add(event);
        network.notifyAll();
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        return Capability.ATOMICS
                | Capability.PUT_NOTIFY
                | Capability.FOREIGN_MEMORY
                | Capability.APPLICATION_BYPASS;
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        return "model: one process, one lock; for tests of the suite";
    }

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        ownOpen();
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        if (length > 1 << 30) {
            throw new TransportException("allocate: " + length + " is above the model's limit");
        }
        return add(new ModelRegion(this, new TestMemory((int) length, 0), true, rights));
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        ownOpen();
        return add(new ModelRegion(this, memory, false, rights));
    }

    private ModelRegion add(ModelRegion region) {
        synchronized (network) {
            regions.put(region.key, region);
        }
        return region;
    }

    @Override
    public void listen() {
        ownOpen();
        synchronized (network) {
            isListening = true;
        }
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        own();
        if (length < 0 || length > PRIVATE_DATA_MAX) {
            throw new IllegalArgumentException(
                    "private data of " + length + " bytes is outside 0 to " + PRIVATE_DATA_MAX);
        }
        if (!"model".equals(peer.getScheme())) {
            throw new IllegalArgumentException("no model URI: " + peer);
        }
        synchronized (network) {
            if (isClosed) {
                return CLOSED;
            }
            if (connections.size() == limits.connectionsMax()) {
                return BACK_PRESSURED;
            }
            Connection mine = new Connection();
            mine.handle = network.numbers.getAndIncrement();
            mine.context = context;
            mine.deadlineNs = nanoTime() + timeoutNs;
            connections.put(mine.handle, mine);
            ModelTransport target = network.transports.get(peer.getPath().substring(1));
            String why =
                    target == null
                            ? "no transport " + peer
                            : !target.uri.equals(peer)
                                    ? "another incarnation than " + peer
                                    : target.isListening ? null : peer + " does not listen";
            if (why == null && target.connections.size() == target.limits.connectionsMax()) {
                why = peer + " has no connection left";
            }
            if (why != null) {
                fail(mine, Status.REFUSED, why);
                return mine.handle;
            }
            Connection theirs = new Connection();
            theirs.handle = network.numbers.getAndIncrement();
            theirs.isOffered = true;
            theirs.peer = this;
            theirs.peerHandle = mine.handle;
            mine.peer = target;
            mine.peerHandle = theirs.handle;
            target.connections.put(theirs.handle, theirs);
            Event request = target.event(REQUEST, theirs);
            request.peer = uri;
            request.payload = new UnsafeBuffer(new byte[length]);
            if (length > 0) {
                request.payload.putBytes(0, privateData, offset, length);
            }
            target.deliver(request);
            return mine.handle;
        }
    }

    private void fail(Connection connection, int status, String why) {
        connections.remove(connection.handle);
        Event event = event(FAILED, connection);
        event.status = status;
        event.text = why;
        deliver(event);
    }

    @Override
    public int accept(long handle, long context) {
        own();
        synchronized (network) {
            if (isClosed) {
                return CLOSED;
            }
            Connection connection = connections.get(handle);
            if (connection == null || !connection.isOffered) {
                return NOT_CONNECTED;
            }
            Connection other = connection.peer.connections.get(connection.peerHandle);
            if (other == null) {
                connections.remove(handle);
                return NOT_CONNECTED;
            }
            connection.isOffered = false;
            connection.context = context;
            connection.isOpen = true;
            other.isOpen = true;
            deliver(event(CONNECTED, connection));
            connection.peer.deliver(connection.peer.event(CONNECTED, other));
            return ACCEPTED;
        }
    }

    @Override
    public int reject(long handle) {
        own();
        synchronized (network) {
            if (isClosed) {
                return CLOSED;
            }
            Connection connection = connections.get(handle);
            if (connection == null || !connection.isOffered) {
                return NOT_CONNECTED;
            }
            connections.remove(handle);
            Connection other = connection.peer.connections.get(connection.peerHandle);
            if (other != null) {
                connection.peer.fail(other, Status.REFUSED, uri + " refused");
            }
            return ACCEPTED;
        }
    }

    @Override
    public int disconnect(long handle) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            if (connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            connections.remove(handle);
            end(connection, DISCONNECTED, "");
            return ACCEPTED;
        }
    }

    /** Ends the peer's side. */
    private void end(Connection connection, int kind, String why) {
        connection.isOpen = false;
        Connection other = connection.peer.connections.remove(connection.peerHandle);
        if (other == null) {
            return;
        }
        if (!other.isOpen) {
            if (!other.isOffered) {
                Event event = connection.peer.event(FAILED, other);
                event.status = Status.REFUSED;
                event.text = why;
                connection.peer.deliver(event);
            }
            return;
        }
        other.isOpen = false;
        Event event = connection.peer.event(kind, other);
        event.text = why;
        connection.peer.deliver(event);
    }

    private Connection connection(long handle) {
        Connection connection = connections.get(handle);
        return connection == null || !connection.isOpen ? null : connection;
    }

    private int refusal(Connection connection, boolean needsCompletion) {
        if (isClosed) {
            return CLOSED;
        }
        if (connection == null) {
            return NOT_CONNECTED;
        }
        return needsCompletion && outstanding >= limits.outstandingMax()
                ? BACK_PRESSURED
                : ACCEPTED;
    }

    private static ModelRegion local(
            ModelTransport user, RegisteredRegion region, long offset, long length) {
        if (region.isClosed()) {
            throw new IllegalStateException(region + " is closed");
        }
        if (!(region instanceof ModelRegion mine) || mine.transport() != user) {
            throw new IllegalArgumentException(region + " is of another transport");
        }
        if (length < 0 || offset < 0 || offset > region.length() - length) {
            throw new IllegalArgumentException(
                    "range " + offset + " + " + length + " is outside " + region);
        }
        return mine;
    }

    private void complete(
            Connection connection,
            int operation,
            long context,
            ModelRegion local,
            int status,
            long value) {
        Event event = event(COMPLETION, connection);
        event.operation = operation;
        event.context = context;
        event.status = status;
        event.value = value;
        event.local = local;
        if (local != null) {
            local.outstanding++;
        }
        outstanding++;
        deliver(event);
    }

    @Override
    public int send(
            long handle,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            ModelRegion from = local(this, source, offset, length);
            if (length > limits.messageLengthMax()) {
                return TOO_LONG;
            }
            ModelTransport target = connection.peer;
            if (refusal != ACCEPTED
                    || connection.inFlight == target.limits.creditsPerConnection()
                    || target.slotsUsed == target.limits.receiveSlotCount()) {
                return BACK_PRESSURED;
            }
            Connection theirs = target.connections.get(connection.peerHandle);
            Event message = target.event(MESSAGE, theirs);
            if (message.payload == null || message.payload.capacity() < limits.messageLengthMax()) {
                message.payload = new UnsafeBuffer(new byte[limits.messageLengthMax()]);
            }
            message.payload.putBytes(0, from.bytes, (int) offset, (int) length);
            message.length = length;
            connection.inFlight++;
            target.slotsUsed++;
            target.deliver(message);
            complete(connection, Operation.SEND, context, from, Status.OK, length);
            return ACCEPTED;
        }
    }

    /** Finds what a descriptor names: a status; the region is left in {@link #found}. */
    private int find(
            Connection connection, RemoteDescriptor d, long offset, long length, int right) {
        found = connection.peer.regions.get(d.keyLow());
        if (found == null
                || d.keyHigh() != connection.peer.incarnation
                || d.kind() != RemoteDescriptor.KIND_SIM) {
            return Status.STALE_KEY;
        }
        if ((d.rights() & right) == 0 || (found.rights() & right) == 0) {
            return Status.ACCESS;
        }
        boolean fits =
                offset >= 0
                        && offset <= d.length() - length
                        && d.base() >= 0
                        && d.base() <= found.length()
                        && d.length() <= found.length() - d.base();
        return fits ? Status.OK : Status.BOUNDS;
    }

    private ModelRegion found;

    private int move(
            Connection connection,
            ModelRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            boolean isPut) {
        int right = isPut ? RemoteDescriptor.REMOTE_WRITE : RemoteDescriptor.REMOTE_READ;
        int status = find(connection, remote, remoteOffset, length, right);
        if (status == Status.OK) {
            int at = (int) (remote.base() + remoteOffset);
            if (isPut) {
                found.bytes.putBytes(at, local.bytes, (int) offset, (int) length);
            } else {
                local.bytes.putBytes((int) offset, found.bytes, at, (int) length);
            }
        }
        return status;
    }

    private int oneSided(
            long handle,
            int operation,
            RegisteredRegion region,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            ModelRegion local = local(this, region, offset, length);
            if (refusal != ACCEPTED) {
                return refusal;
            }
            boolean isPut = operation != Operation.GET;
            int status = move(connection, local, offset, remote, remoteOffset, length, isPut);
            if (status == Status.OK && operation == Operation.PUT_NOTIFY) {
                ModelTransport target = connection.peer;
                Event event = target.event(NOTIFY, target.connections.get(connection.peerHandle));
                event.operation = tag;
                event.value = found.id();
                event.offset = remote.base() + remoteOffset;
                event.length = length;
                target.deliver(event);
            }
            complete(
                    connection,
                    operation,
                    context,
                    local,
                    status,
                    status == Status.OK ? length : 0);
            return ACCEPTED;
        }
    }

    @Override
    public int put(
            long handle,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags) {
        return oneSided(
                handle, Operation.PUT, source, offset, target, targetOffset, length, 0, context);
    }

    @Override
    public int putNotify(
            long handle,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags) {
        return oneSided(
                handle,
                Operation.PUT_NOTIFY,
                source,
                offset,
                target,
                targetOffset,
                length,
                tag,
                context);
    }

    @Override
    public int get(
            long handle,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags) {
        return oneSided(
                handle,
                Operation.GET,
                destination,
                offset,
                source,
                sourceOffset,
                length,
                0,
                context);
    }

    private int vectored(
            long handle,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            boolean isPut) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            for (int i = 0; i < vector.count(); i++) {
                local(this, vector.region(i), vector.offset(i), vector.length(i));
            }
            if (refusal != ACCEPTED) {
                return refusal;
            }
            int worst = Status.OK;
            long moved = 0;
            for (int i = 0; i < vector.count(); i++) {
                ModelRegion local = (ModelRegion) vector.region(i);
                int status =
                        move(
                                connection,
                                local,
                                vector.offset(i),
                                remote,
                                vector.remoteOffset(i),
                                vector.length(i),
                                isPut);
                worst = Math.max(worst, status);
                moved += status == Status.OK ? vector.length(i) : 0;
            }
            complete(
                    connection, isPut ? Operation.PUT : Operation.GET, context, null, worst, moved);
            ModelRegion[] used = new ModelRegion[vector.count()];
            for (int i = 0; i < used.length; i++) {
                used[i] = (ModelRegion) vector.region(i);
                used[i].outstanding++;
            }
            events.peekLast().more = used;
            return ACCEPTED;
        }
    }

    @Override
    public int put(
            long handle, TransferVector vector, RemoteDescriptor target, long context, int flags) {
        return vectored(handle, vector, target, context, true);
    }

    @Override
    public int get(
            long handle, TransferVector vector, RemoteDescriptor source, long context, int flags) {
        return vectored(handle, vector, source, context, false);
    }

    private int atomic(
            long handle,
            int operation,
            RemoteDescriptor target,
            long offset,
            long first,
            long second,
            long context) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            if (((target.base() + offset) & 7) != 0) {
                throw new IllegalArgumentException(
                        "offset " + offset + " is not aligned to 8 bytes");
            }
            if (refusal != ACCEPTED) {
                return refusal;
            }
            int status = find(connection, target, offset, 8, RemoteDescriptor.REMOTE_ATOMIC);
            long before = 0;
            if (status == Status.OK) {
                int at = (int) (target.base() + offset);
                before = found.bytes.getLong(at);
                if (operation == Operation.FETCH_ADD) {
                    found.bytes.putLong(at, before + first);
                } else if (before == first) {
                    found.bytes.putLong(at, second);
                }
            }
            complete(connection, operation, context, null, status, before);
            return ACCEPTED;
        }
    }

    @Override
    public int fetchAdd(
            long handle,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags) {
        return atomic(handle, Operation.FETCH_ADD, target, targetOffset, delta, 0, context);
    }

    @Override
    public int compareSwap(
            long handle,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags) {
        return atomic(
                handle, Operation.COMPARE_SWAP, target, targetOffset, expected, update, context);
    }

    @Override
    public void retain(long messageToken) {
        own();
        if (handled == null || handled.kind != MESSAGE || handled.token != messageToken) {
            throw new IllegalStateException("message " + messageToken + " is not being handled");
        }
        handled.isRetained = true;
        synchronized (network) {
            retained.put(messageToken, handled);
        }
    }

    @Override
    public void release(long messageToken) {
        own();
        synchronized (network) {
            Event message = retained.remove(messageToken);
            if (message == null) {
                throw new IllegalStateException("message " + messageToken + " is not retained");
            }
            if (message == handled) {
                message.isRetained = false;
            } else {
                giveBack(message);
            }
        }
    }

    private void giveBack(Event message) {
        slotsUsed--;
        Connection connection = message.connection;
        Connection other = connection.peer.connections.get(connection.peerHandle);
        if (other != null) {
            other.inFlight--;
            connection.peer.network.notifyAll();
        }
        free.add(message);
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        own();
        if (isPolling) {
            throw new IllegalStateException("poll within a handler");
        }
        synchronized (network) {
            if (isClosed) {
                return CLOSED;
            }
        }
        int count = 0;
        isPolling = true;
        try {
            while (count < limit) {
                synchronized (network) {
                    if (isClosed) {
                        return CLOSED;
                    }
                    expire();
                    handled = events.poll();
                    if (handled == null) {
                        break;
                    }
                    if (handled.kind == COMPLETION) {
                        outstanding--;
                        if (handled.local != null) {
                            handled.local.outstanding--;
                        }
                        for (int i = 0; handled.more != null && i < handled.more.length; i++) {
                            handled.more[i].outstanding--;
                        }
                    }
                }
                count++;
                try {
                    dispatch(handler, handled);
                } finally {
                    finish(handled);
                }
            }
        } finally {
            handled = null;
            isPolling = false;
        }
        return count;
    }

    private void expire() {
        if (connections.isEmpty()) {
            return;
        }
        ArrayList<Connection> late = null;
        for (Connection connection : connections.values()) {
            if (!connection.isOpen
                    && !connection.isOffered
                    && connection.deadlineNs - nanoTime() < 0) {
                late = late == null ? new ArrayList<>() : late;
                late.add(connection);
            }
        }
        if (late != null) {
            late.forEach(c -> fail(c, Status.TIMED_OUT, "no answer in time"));
        }
    }

    private void finish(Event event) {
        synchronized (network) {
            if (event.kind != MESSAGE) {
                free.add(event);
            } else if (!event.isRetained) {
                giveBack(event);
            }
        }
    }

    private void dispatch(TransportHandler handler, Event e) {
        switch (e.kind) {
            case COMPLETION ->
                    handler.onCompletion(e.handle, e.operation, e.context, e.status, e.value);
            case MESSAGE -> {
                e.token = network.numbers.getAndIncrement();
                handler.onMessage(e.handle, e.context, e.payload, 0, (int) e.length, e.token);
            }
            case NOTIFY ->
                    handler.onNotify(e.handle, e.context, e.operation, e.value, e.offset, e.length);
            case REQUEST ->
                    handler.onConnectRequest(e.handle, e.peer, e.payload, 0, e.payload.capacity());
            case CONNECTED -> handler.onConnected(e.handle, e.context);
            case FAILED -> handler.onConnectFailed(e.handle, e.context, e.status, e.text);
            case DISCONNECTED -> handler.onDisconnected(e.handle, e.context);
            default -> handler.onPeerLost(e.handle, e.context, e.text);
        }
    }

    @Override
    public boolean await(long deadlineNs) {
        own();
        synchronized (network) {
            while (true) {
                expire();
                if (!events.isEmpty() || isClosed) {
                    return true;
                }
                long left = Math.min(deadlineNs - nanoTime(), 10_000_000);
                if (isWoken || left <= 0) {
                    isWoken = false;
                    return false;
                }
                try {
                    TimeUnit.NANOSECONDS.timedWait(network, left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return false;
                }
            }
        }
    }

    @Override
    public void wakeup() {
        synchronized (network) {
            isWoken = true;
            network.notifyAll();
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void close() {
        if (isPolling && Thread.currentThread() == owner) {
            throw new IllegalStateException("close within a handler");
        }
        synchronized (network) {
            if (isClosed) {
                return;
            }
            if (!regions.isEmpty()) {
                throw new IllegalStateException("regions are open: " + regions.values());
            }
            isClosed = true;
            network.transports.remove(name);
            new ArrayList<>(connections.values()).forEach(c -> endOrForget(c));
            connections.clear();
            network.notifyAll();
        }
    }

    private void endOrForget(Connection connection) {
        if (connection.peer != null) {
            end(connection, LOST, "the peer " + uri + " closed");
        }
    }
}
