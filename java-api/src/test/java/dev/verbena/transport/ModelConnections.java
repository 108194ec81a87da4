package dev.verbena.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.net.URI;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/** Regions and connections of a transport of the model, and what is to be told of them. */
abstract class ModelConnections extends TransferTransport {
    static final int PRIVATE_DATA_MAX = 256;
    static final int COMPLETION = 0;
    static final int MESSAGE = 1;
    static final int NOTIFY = 2;
    static final int REQUEST = 3;
    static final int CONNECTED = 4;
    static final int FAILED = 5;
    static final int DISCONNECTED = 6;
    static final int LOST = 7;

    final ModelNetwork network;
    final long incarnation;
    final Long2ObjectHashMap<ModelRegion> regions = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<Connection> connections = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<Event> retained = new Long2ObjectHashMap<>();
    final ArrayDeque<Event> events = new ArrayDeque<>();
    final ArrayDeque<Event> free = new ArrayDeque<>();
    final TransportLimits limits;
    final String name;
    final URI uri;
    volatile Thread owner;
    boolean isListening;
    boolean isWoken;
    boolean isPolling;
    boolean isClosed;
    int outstanding;
    int slotsUsed;
    Event handled;

    /** One end of a connection. */
    static final class Connection {
        long handle;
        long context;
        ModelTransport peer;
        long peerHandle;
        boolean isOpen;
        boolean isOffered;
        long deadlineNs;
        int inFlight;
    }

    static final class Event {
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

    ModelConnections(ModelNetwork network, String name, TransportContext context) {
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

    void own() {
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

    void ownOpen() {
        own();
        if (isClosed) {
            throw new IllegalStateException("transport " + uri + " is closed");
        }
    }

    Event event(int kind, Connection connection) {
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

    void deliver(Event event) {
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
        return add(new ModelRegion(self(), new TestMemory((int) length, 0), true, rights));
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        ownOpen();
        return add(new ModelRegion(self(), memory, false, rights));
    }

    ModelRegion add(ModelRegion region) {
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
            mine.deadlineNs = Deadlines.after(nanoTime(), timeoutNs);
            connections.put(mine.handle, mine);
            ModelTransport target = network.transports.get(peer.getPath().substring(1));
            String why = null;
            int status = Status.REFUSED;
            if (target == null) {
                why = "no transport " + peer;
                status = peer.getQuery() == null ? Status.NOT_LISTENING : Status.REFUSED;
            } else if (peer.getQuery() != null && !target.uri.equals(peer)) {
                why = "another incarnation than " + peer;
            } else if (!target.isListening) {
                why = peer + " does not listen";
                status = Status.NOT_LISTENING;
            } else if (target.connections.size() == target.limits.connectionsMax()) {
                why = peer + " has no connection left";
            }
            if (why != null) {
                fail(mine, status, why);
                return mine.handle;
            }
            Connection theirs = new Connection();
            theirs.handle = network.numbers.getAndIncrement();
            theirs.isOffered = true;
            theirs.peer = self();
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

    void fail(Connection connection, int status, String why) {
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
            Connection connection = connections.get(handle);
            if (isClosed || connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            if (connection.isOffered) {
                return reject(handle);
            }
            if (!connection.isOpen) {
                fail(connection, Status.CANCELLED, "disconnect was called");
                return ACCEPTED;
            }
            connections.remove(handle);
            end(connection, DISCONNECTED, "");
            return ACCEPTED;
        }
    }

    /** Ends the peer's side. */
    void end(Connection connection, int kind, String why) {
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

    Connection connection(long handle) {
        Connection connection = connections.get(handle);
        return connection == null || !connection.isOpen ? null : connection;
    }

    int refusal(Connection connection, boolean needsCompletion) {
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

    void complete(
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

    /** This, with all its layers. */
    abstract ModelTransport self();
}
