package dev.verbena.nsim.world;

import static dev.verbena.nsim.world.SimulatedEvent.CONNECTED;
import static dev.verbena.nsim.world.SimulatedEvent.FAILED;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.nsim.world.SimulatedRegion.Origin;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferTransport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.LinkedHashSet;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

/** Regions and connections of a simulated transport. */
abstract class TransportConnections extends TransferTransport {
    static final int PRIVATE_DATA_MAX = 256;
    private static final long REFUSAL_PS = 1_000_000;

    /** Multiplied by this, numbers of regions look like keys. */
    private static final long KEYS = 0x9e3779b97f4a7c15L;

    final World world;
    final SimulatedProcess process;
    final long incarnation;
    final Long2ObjectHashMap<SimulatedRegion> regions = new Long2ObjectHashMap<>();
    final Long2ObjectHashMap<Connection> byHandle = new Long2ObjectHashMap<>();

    /** In the order in which they were made. */
    final Set<Connection> connections = new LinkedHashSet<>();

    final ArrayDeque<SimulatedEvent> events = new ArrayDeque<>();
    final ArrayDeque<SimulatedEvent> freeEvents = new ArrayDeque<>();
    final Long2ObjectHashMap<SimulatedEvent> retained = new Long2ObjectHashMap<>();
    final TransportLimits limits;
    final long peerTimeoutNs;
    final String name;
    final URI uri;
    private volatile Thread owner;
    boolean isListening;
    boolean isClosed;
    int outstanding;
    private int slotsGranted;

    TransportConnections(SimulatedProcess process, String name, TransportContext context) {
        this.process = process;
        this.world = process.world;
        this.name = name;
        this.incarnation = world.number();
        this.peerTimeoutNs = context.peerTimeoutNs();
        this.uri =
                URI.create(
                        "%s://%s/%s?incarnation=%s"
                                .formatted(World.SCHEME, context.job(), name, incarnation));
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        context.connectionsMax(),
                        PRIVATE_DATA_MAX);
    }

    /** This, with all its layers. */
    abstract SimulatedTransport self();

    final void own() {
        Thread current = Thread.currentThread();
        if (owner == null) {
            owner = current;
            synchronized (world) {
                world.timeAdvance.owned(current);
            }
        } else if (owner != current) {
            throw new IllegalStateException(
                    ("%s is owned by thread '%s', which used it first; thread '%s' may only call"
                                    + " wakeup and close")
                            .formatted(uri, owner.getName(), current.getName()));
        }
    }

    private void ownOpen() {
        own();
        if (isClosed) {
            throw new IllegalStateException("transport " + uri + " is closed");
        }
    }

    /** An operation is under way. */
    final void posted() {
        outstanding++;
    }

    /** An operation has ended and its event is being polled. */
    final void settled() {
        outstanding--;
    }

    final void closed() {
        isClosed = true;
    }

    final boolean isAlive() {
        return !isClosed && !process.isDead;
    }

    final SimulatedEvent event(int kind, Connection connection) {
        SimulatedEvent event = freeEvents.poll();
        if (event == null) {
            event = new SimulatedEvent();
        }
        event.begin(kind, connection);
        return event;
    }

    final void deliver(SimulatedEvent event) {
        events.add(event);
        world.wake(process);
    }

    final boolean hasNews() {
        return !events.isEmpty() || isClosed;
    }

    final boolean isOwnersThread() {
        return Thread.currentThread() == owner;
    }

    final int regionCount() {
        return regions.size();
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
        return ("sim: %s, a node of a modelled network in virtual time; bytes are copied"
                        + " when the model says that they arrive")
                .formatted(process);
    }

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        ownOpen();
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        if (length > Integer.MAX_VALUE) {
            throw new TransportException(
                    "allocate: " + length + " bytes; simulated regions have at most 2 GiB");
        }
        failSometimes("allocate of " + length + " bytes");
        boolean isBlank = rights == RemoteDescriptor.REMOTE_READ && length > world.copiedMax;
        synchronized (world) {
            return isBlank
                    ? add(length, world.memory.blank(length), Origin.BLANK, rights)
                    : add(length, OffHeapMemories.allocate(length), Origin.OWN, rights);
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        ownOpen();
        failSometimes("register of " + memory.length() + " bytes");
        return add(memory.length(), memory, Origin.FOREIGN, rights);
    }

    private void failSometimes(String what) {
        if (process.failsOneIn > 0 && world.random.nextInt(process.failsOneIn) == 0) {
            world.trace("registration failed", process);
            throw new TransportException(what + ": the simulated NIC has no room for it now");
        }
    }

    private SimulatedRegion add(long length, OffHeapMemory memory, Origin origin, int rights) {
        synchronized (world) {
            long id = world.number();
            SimulatedRegion region =
                    new SimulatedRegion(self(), id, id * KEYS, length, memory, origin, rights);
            regions.put(region.key, region);
            return region;
        }
    }

    final void closeRegion(SimulatedRegion region) {
        synchronized (world) {
            if (region.users() > 0) {
                region.closeRefused();
                throw new IllegalStateException(
                        region.users() + " operations are outstanding on " + region);
            }
            regions.remove(region.key);
            region.free();
        }
    }

    @Override
    public void listen() {
        ownOpen();
        synchronized (world) {
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
        if (!World.SCHEME.equals(peer.getScheme()) || peer.getPath().length() < 2) {
            throw new IllegalArgumentException("no URI of a simulated transport: " + peer);
        }
        synchronized (world) {
            if (isClosed) {
                return CLOSED;
            }
            if (connections.size() >= limits.connectionsMax()) {
                return BACK_PRESSURED;
            }
            Connection mine = begin(context);
            mine.connecting();
            int at = process.host.index();
            world.afterPs(World.ps(timeoutNs), at, () -> timedOut(mine, peer));
            SimulatedTransport target = world.transports.get(peer.getPath().substring(1));
            if (target == null) {
                int status = peer.getQuery() == null ? Status.NOT_LISTENING : Status.REFUSED;
                world.afterPs(REFUSAL_PS, at, () -> fail(mine, status, "no transport " + peer));
                return mine.handle;
            }
            Work work = world.work(Work.CONNECT, self(), target);
            work.connect(mine, peer);
            work.payload(privateData, offset, length);
            world.deliveries.start(work);
            return mine.handle;
        }
    }

    final Connection begin(long context) {
        Connection connection = new Connection(self(), world.number(), context);
        connections.add(connection);
        byHandle.put(connection.handle, connection);
        return connection;
    }

    private void timedOut(Connection connection, URI peer) {
        if (connection.isPending) {
            fail(connection, Status.TIMED_OUT, "no answer of " + peer + " in time");
        }
    }

    /** A connect came to nothing. */
    final void fail(Connection connection, int status, String why) {
        if (connection.isGone || !isAlive()) {
            return;
        }
        forget(connection);
        SimulatedEvent event = event(FAILED, connection);
        event.fail(status, why);
        deliver(event);
    }

    final void forget(Connection connection) {
        connection.gone();
        connections.remove(connection);
        byHandle.remove(connection.handle);
        slotsGranted -= connection.granted;
    }

    /** How many messages a new connection may have on their way here. */
    final int grant() {
        int room = Math.max(1, limits.receiveSlotCount() - slotsGranted);
        int granted = Math.min(limits.creditsPerConnection(), room);
        slotsGranted += granted;
        return granted;
    }

    @Override
    public int accept(long handle, long context) {
        own();
        synchronized (world) {
            Connection connection = byHandle.get(handle);
            if (isClosed || connection == null || !connection.isOffered) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            connection.accept(context);
            deliver(event(CONNECTED, connection));
            control(Work.ACCEPT, connection, "", true);
            return ACCEPTED;
        }
    }

    @Override
    public int reject(long handle) {
        own();
        synchronized (world) {
            Connection connection = byHandle.get(handle);
            if (isClosed || connection == null || !connection.isOffered) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            forget(connection);
            control(Work.REJECT, connection, uri + " refused", false);
            return ACCEPTED;
        }
    }

    @Override
    public int disconnect(long handle) {
        own();
        synchronized (world) {
            Connection connection = byHandle.get(handle);
            if (!isClosed && connection != null && connection.isPending) {
                fail(connection, Status.CANCELLED, "disconnect was called");
                return ACCEPTED;
            }
            if (!isClosed && connection != null && connection.isOffered) {
                return reject(handle);
            }
            if (isClosed || connection == null || !connection.isOpen || connection.isEnding) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            connection.disconnect();
            endIfIdle(connection);
            return ACCEPTED;
        }
    }

    /** The last operation of a connection that its owner has ended is done. */
    final void endIfIdle(Connection connection) {
        if (connection.isEnding && connection.first == null && !connection.isGone) {
            control(Work.DISCONNECT, connection, "", true);
            world.deliveries.drop(connection);
            forget(connection);
        }
    }

    /** Tells the other end. */
    final void control(int kind, Connection connection, String text, boolean isSequenced) {
        Connection other = connection.peer;
        Work work = world.work(kind, self(), other.owner);
        work.about(other, text);
        if (isSequenced) {
            work.sequenceAfter(connection);
        }
        world.deliveries.start(work);
    }
}
