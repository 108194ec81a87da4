package dev.verbena.portals.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Operation;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The transport {@code portals://}; see the package for how the contract's words become Portals
 * calls. Opened by {@link PortalsTransportProvider}.
 */
public final class PortalsTransport implements Transport {
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;
    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final OwnerGuard guard;
    private final TransportContext context;
    private final TransportLimits limits;
    private final PortalsInterface ni;
    private final Card card;
    private final EventRing ring;
    private final Registrations registrations;
    private final Connections connections;
    private final Inbox inbox;
    private final URI uri;
    private final long capabilities;
    private boolean isPolling;
    private volatile boolean isWoken;
    private long droppedSends;

    PortalsTransport(TransportContext context, PortalsInterface ni, CardSizes sizes) {
        this.context = context;
        this.ni = ni;
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        context.connectionsMax(),
                        ControlRecord.PRIVATE_MAX);
        this.uri = new PortalsAddress(context.job(), ni.id(), ni.incarnation()).uri();
        this.guard = new OwnerGuard(uri.toString(), ni::moveTo);
        this.card = new Card(ni, sizes);
        this.ring = new EventRing(context.outstandingMax(), context.connectionsMax());
        this.registrations =
                new Registrations(
                        this,
                        ni,
                        card.notifyQueue,
                        card.localQueue,
                        ring,
                        2 * context.peerTimeoutNs());
        this.connections = new Connections(card, ring, context, nanoTime());
        this.inbox = new Inbox(card, connections, registrations, context);
        this.capabilities =
                Capability.PUT_NOTIFY
                        | Capability.APPLICATION_BYPASS
                        | (reachesForeignMemory() ? Capability.FOREIGN_MEMORY : 0);
    }

    private boolean reachesForeignMemory() {
        UnsafeBuffer probe =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                FOREIGN_PROBE_LENGTH, FOREIGN_PROBE_LENGTH));
        try {
            ni.bind(
                            new dev.verbena.portals.MemoryDescriptorContext()
                                    .region(probe.addressOffset(), FOREIGN_PROBE_LENGTH)
                                    .acceptPut(true),
                            false)
                    .close();
            return true;
        } catch (PortalsException e) {
            return false;
        }
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        return capabilities;
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        return "Portals 3.3, emulated over the software NIC: "
                + uri
                + ". Messages go to a list of "
                + ReceiveQueue.LIST_LENGTH
                + " descriptors of "
                + card.messages.bufferLength()
                + " bytes at table entry "
                + Card.MESSAGE_INDEX
                + ". Memory from allocate is mapped by peers; other memory is "
                + ((capabilities & Capability.FOREIGN_MEMORY) != 0
                        ? "reached with cross-memory attach."
                        : "refused by this kernel.")
                + " There are no atomics: Portals 3.3 has a swap only.";
    }

    /**
     * Counters of the receive queue.
     *
     * @throws IllegalStateException after close
     */
    public PortalsStatistics statistics() {
        enterOpen();
        try {
            return new PortalsStatistics(
                    card.messages.linkedCount(),
                    card.messages.unlinkCount(),
                    card.messages.replacementCount(),
                    card.messages.bufferCount(),
                    card.messages.lossCount(),
                    droppedSends);
        } finally {
            guard.exit();
        }
    }

    /** For tests: the Portals objects, on the owner's thread only. */
    Card card() {
        return card;
    }

    /**
     * A status register of the interface, for example {@code PortalsRegister.DESCRIPTORS}.
     *
     * @throws IllegalStateException after close
     */
    public long register(int register) {
        enterOpen();
        try {
            return ni.status(register);
        } finally {
            guard.exit();
        }
    }

    // ---- memory ----

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        enterOpen();
        try {
            return registrations.allocate(length, rights);
        } finally {
            guard.exit();
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        enterOpen();
        try {
            return registrations.register(memory, rights);
        } finally {
            guard.exit();
        }
    }

    boolean enterFor(PortalsRegion region) {
        return guard.enter();
    }

    void exitFor() {
        guard.exit();
    }

    private void enterOpen() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + uri);
        }
    }

    // ---- connections ----

    @Override
    public void listen() {
        enterOpen();
        try {
            card.listen();
        } finally {
            guard.exit();
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
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            PortalsAddress address = PortalsAddress.of(peer);
            if (length < 0 || length > ControlRecord.PRIVATE_MAX) {
                throw new IllegalArgumentException(
                        "private data of "
                                + length
                                + " bytes is outside 0 to "
                                + ControlRecord.PRIVATE_MAX);
            }
            byte[] copy = new byte[length];
            if (length > 0) {
                privateData.getBytes(offset, copy);
            }
            return connections.connect(address, peer, copy, context, nanoTime() + timeoutNs);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int accept(long connection, long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.accept(connection, context);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int reject(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.reject(connection);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int disconnect(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.disconnect(connection);
        } finally {
            guard.exit();
        }
    }

    // ---- operations ----

    private PortalsRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof PortalsRegion own) || own.registrations() != registrations) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.checkRange(offset, length);
        return own;
    }

    private PortalsConnection usable(long connection) {
        PortalsConnection c = connections.find(connection);
        return c != null && c.state == PortalsConnection.CONNECTED && c.peerHandle != 0 ? c : null;
    }

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            PortalsRegion region = own(source, offset, length);
            PortalsConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (length > c.messageLengthMax) {
                return TOO_LONG;
            }
            if (ring.isFull() || !connections.hasCredit(c)) {
                return BACK_PRESSURED;
            }
            return send(c, region, offset, (int) length, context);
        } finally {
            guard.exit();
        }
    }

    private int send(PortalsConnection c, PortalsRegion source, long offset, int length, long ctx) {
        UnsafeBuffer staging = card.staging;
        MessageHeader.write(staging, 0, c.peerHandle, length, c.sentMessages);
        source.copyTo(offset, staging, MessageHeader.LENGTH, length);
        int taken = c.takenCount;
        int outcome =
                card.putMessage(
                        c.target, length, MessageHeader.bits(c.peerHandle, taken, c.sentMessages));
        if (outcome == PortalsOutcome.DELIVERED) {
            c.takenTold = taken;
            c.sentCount++;
            c.sentMessages++;
            source.lastCompletion = ring.add(c.handle, Operation.SEND, ctx, Status.OK, length);
            return ACCEPTED;
        }
        return sendFailed(c, source, outcome, ctx);
    }

    private int sendFailed(PortalsConnection c, PortalsRegion source, int outcome, long ctx) {
        if (Card.isToBeRetried(outcome)) {
            return BACK_PRESSURED;
        }
        if (outcome == PortalsOutcome.DROPPED) {
            droppedSends++; // the list is about to be filled up again
            return BACK_PRESSURED;
        }
        complete(c, source, Operation.SEND, ctx, statusOf(outcome), 0);
        if (Card.isPeerGone(outcome)) {
            connections.lose(c, "its process is gone");
        }
        return ACCEPTED;
    }

    private void complete(
            PortalsConnection c, PortalsRegion r, int operation, long ctx, int status, long value) {
        r.lastCompletion = ring.add(c.handle, operation, ctx, status, value);
    }

    private static int statusOf(int outcome) {
        if (outcome == PortalsOutcome.DELIVERED) {
            return Status.OK;
        }
        if (outcome == PortalsOutcome.DROPPED) {
            return Status.STALE_KEY;
        }
        if (Card.isPeerGone(outcome)) {
            return Status.PEER_DEAD;
        }
        return Card.isToBeRetried(outcome) ? Status.TIMED_OUT : Status.INTERNAL;
    }

    /** Refused here, before anything is put: 0 if the descriptor allows it. */
    private static int refusal(RemoteDescriptor d, long offset, long length, int right) {
        if (d.kind() != RemoteDescriptor.KIND_PORTALS
                || d.keyHigh() < Registrations.PORTAL_INDEX_FIRST
                || d.keyHigh() > Integer.MAX_VALUE) {
            return (d.rights() & right) == 0 ? Status.ACCESS : Status.STALE_KEY;
        }
        if ((d.rights() & right) == 0) {
            return Status.ACCESS;
        }
        if (offset < 0
                || d.base() < 0
                || offset > d.length()
                || length > d.length() - offset
                || d.base() > Long.MAX_VALUE - offset - length) {
            return Status.BOUNDS;
        }
        return Status.OK;
    }

    @Override
    public int put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags) {
        return oneSided(
                connection, source, offset, target, targetOffset, length, context, Operation.PUT);
    }

    @Override
    public int get(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags) {
        return oneSided(
                connection,
                destination,
                offset,
                source,
                sourceOffset,
                length,
                context,
                Operation.GET);
    }

    private int oneSided(
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            long context,
            int operation) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            PortalsRegion region = own(local, offset, length);
            PortalsConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (ring.isFull()) {
                return BACK_PRESSURED;
            }
            int outcome = move(c, region, offset, remote, remoteOffset, length, operation);
            if (Card.isToBeRetried(outcome)) {
                return BACK_PRESSURED;
            }
            int status = outcome >= REFUSED_BASE ? outcome - REFUSED_BASE : statusOf(outcome);
            complete(c, region, operation, context, status, status == Status.OK ? length : 0);
            if (Card.isPeerGone(outcome)) {
                connections.lose(c, "its process is gone");
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    /** Added to a status with which an operation was refused here. */
    private static final int REFUSED_BASE = 1 << 16;

    private int move(
            PortalsConnection c,
            PortalsRegion local,
            long offset,
            RemoteDescriptor d,
            long remoteOffset,
            long length,
            int operation) {
        boolean isGet = operation == Operation.GET;
        int refusal =
                refusal(
                        d,
                        remoteOffset,
                        length,
                        isGet ? RemoteDescriptor.REMOTE_READ : RemoteDescriptor.REMOTE_WRITE);
        if (refusal != Status.OK) {
            return REFUSED_BASE + refusal;
        }
        long at = d.base() + remoteOffset;
        int index = (int) d.keyHigh();
        return isGet
                ? card.get(
                        registrations.local(local), offset, length, c.target, index, d.keyLow(), at)
                : card.put(
                        registrations.local(local),
                        offset,
                        length,
                        c.target,
                        index,
                        d.keyLow() & ~PortalsRegion.NOTIFY_BIT,
                        at,
                        0);
    }

    @Override
    public int putNotify(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            PortalsRegion region = own(source, offset, length);
            PortalsConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            // The event at the target takes a credit, so that its queue cannot overrun.
            if (ring.isFull() || !connections.hasCredit(c)) {
                return BACK_PRESSURED;
            }
            int status = refusal(target, targetOffset, length, RemoteDescriptor.REMOTE_WRITE);
            if (status == Status.OK) {
                int outcome =
                        card.put(
                                registrations.local(region),
                                offset,
                                length,
                                c.target,
                                (int) target.keyHigh(),
                                target.keyLow() | PortalsRegion.NOTIFY_BIT,
                                target.base() + targetOffset,
                                MessageHeader.notifyBits(c.peerHandle, tag));
                if (Card.isToBeRetried(outcome)) {
                    return BACK_PRESSURED;
                }
                c.sentCount += outcome == PortalsOutcome.DELIVERED ? 1 : 0;
                status = statusOf(outcome);
            }
            complete(
                    c,
                    region,
                    Operation.PUT_NOTIFY,
                    context,
                    status,
                    status == Status.OK ? length : 0);
            if (status == Status.PEER_DEAD) {
                connections.lose(c, "its process is gone");
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public int put(
            long connection,
            TransferVector vector,
            RemoteDescriptor target,
            long context,
            int flags) {
        return vectored(connection, vector, target, context, Operation.PUT);
    }

    @Override
    public int get(
            long connection,
            TransferVector vector,
            RemoteDescriptor source,
            long context,
            int flags) {
        return vectored(connection, vector, source, context, Operation.GET);
    }

    private int vectored(
            long connection, TransferVector v, RemoteDescriptor d, long context, int operation) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            for (int i = 0; i < v.count(); i++) {
                own(v.region(i), v.offset(i), v.length(i));
            }
            PortalsConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (ring.isFull()) {
                return BACK_PRESSURED;
            }
            int worst = Status.OK;
            long moved = 0;
            for (int i = 0; i < v.count(); i++) {
                int outcome =
                        move(
                                c,
                                (PortalsRegion) v.region(i),
                                v.offset(i),
                                d,
                                v.remoteOffset(i),
                                v.length(i),
                                operation);
                if (i == 0 && Card.isToBeRetried(outcome)) {
                    return BACK_PRESSURED;
                }
                int status = outcome >= REFUSED_BASE ? outcome - REFUSED_BASE : statusOf(outcome);
                worst = Math.max(worst, status);
                moved += status == Status.OK ? v.length(i) : 0;
            }
            long number = ring.add(c.handle, operation, context, worst, moved);
            for (int i = 0; i < v.count(); i++) {
                ((PortalsRegion) v.region(i)).lastCompletion = number;
            }
            if (worst == Status.PEER_DEAD) {
                connections.lose(c, "its process is gone");
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public int fetchAdd(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }

    @Override
    public int compareSwap(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }

    // ---- events ----

    @Override
    public void retain(long messageToken) {
        enterOpen();
        try {
            inbox.retain(messageToken);
        } finally {
            guard.exit();
        }
    }

    @Override
    public void release(long messageToken) {
        if (!guard.enter()) {
            return; // its slot went with the transport
        }
        try {
            inbox.release(messageToken);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            if (isPolling) {
                throw new IllegalStateException("poll called by a handler of " + uri);
            }
            isPolling = true;
            try {
                return inbox.poll(handler, ring, limit);
            } finally {
                isPolling = false;
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            connections.tellAllTaken();
            while (true) {
                int seen = ni.doorbell();
                if (isWoken) {
                    isWoken = false;
                    return true;
                }
                long nowNs = nanoTime();
                connections.onTime(nowNs);
                // In this order: looking for work may put events into the ring.
                if (inbox.hasWork() || !ring.isEmpty() || guard.isClosed()) {
                    return true;
                }
                long leftNs = Math.min(deadlineNs - nowNs, connections.nextTimerNs() - nowNs);
                if (deadlineNs - nowNs <= 0) {
                    return false;
                }
                ni.await(seen, Math.max(leftNs, 0));
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public void wakeup() {
        isWoken = true;
        if (!guard.isClosed()) {
            ni.ring();
        }
    }

    @Override
    public long nanoTime() {
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    @Override
    public synchronized void close() {
        if (ni.isClosed()) {
            return;
        }
        if (guard.isInsideOnThisThread()) {
            throw new IllegalStateException("close called by a handler of " + uri);
        }
        if (!guard.close(CLOSE_TIMEOUT_NS, ni::ring)) {
            throw new IllegalStateException("the owner's thread does not leave " + uri);
        }
        ni.moveTo(Thread.currentThread());
        if (registrations.count() > 0) {
            String open = registrations.names();
            guard.reopenForOwner(ni::moveTo);
            throw new IllegalStateException(uri + " has open regions: " + open);
        }
        connections.closeAll();
        inbox.close();
        ni.closeAll();
    }
}
