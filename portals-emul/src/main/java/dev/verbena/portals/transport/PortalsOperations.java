package dev.verbena.portals.transport;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.RecordConnections;
import dev.verbena.transport.core.RecordInbox;
import dev.verbena.transport.core.RecordTransport;
import dev.verbena.transport.core.RegionTable;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The data path of {@link PortalsTransport}: every operation that can be posted, and the parts that
 * operations need. A superclass and not a part that the transport holds, so that a send finds them
 * one load away.
 */
abstract class PortalsOperations extends RecordTransport {
    /** Added to a status with which an operation was refused here. */
    private static final int REFUSED_BASE = 1 << 16;

    final PortalsResources resources;
    final EventRing ring;
    final Registrations registrations;
    final Connections connections;
    final Inbox inbox;
    private long droppedSends;

    PortalsOperations(TransportContext context, PortalsInterface ni, URI uri, ResourceSizes sizes) {
        super(
                uri,
                limits(context, context.connectionsMax(), ControlRecord.PRIVATE_MAX),
                ni::moveTo);
        this.resources = new PortalsResources(ni, sizes, context.errorHandler());
        this.ring = new EventRing(context.outstandingMax(), context.connectionsMax());
        this.registrations = new Registrations(guard, resources, ring, 2 * context.peerTimeoutNs());
        this.connections =
                new Connections(resources, ring, context, SystemNanoClock.INSTANCE.nanoTime());
        this.inbox = new Inbox(resources, ring, connections, registrations, context);
    }

    /** Sends that the peer's list dropped; each was answered by {@code BACK_PRESSURED}. */
    final long droppedSends() {
        return droppedSends;
    }

    @Override
    protected final RegionTable<?> regions() {
        return registrations;
    }

    @Override
    protected final RecordInbox<?, ?> inbox() {
        return inbox;
    }

    @Override
    protected final RecordConnections<?> connections() {
        return connections;
    }

    private PortalsRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof PortalsRegion own) || own.registrations() != registrations) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    /** Null unless the peer knows of the connection: before our ACCEPT it would drop what comes. */
    private PortalsConnection usable(long connection) {
        PortalsConnection c = connections.find(connection);
        boolean isUsable =
                c != null
                        && c.state == PortalsConnection.CONNECTED
                        && c.pendingRecord == 0
                        && c.peerHandle != 0;
        return isUsable ? c : null;
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
        UnsafeBuffer staging = resources.staging;
        MessageHeader.write(staging, 0, c.peerHandle, length, c.sentMessages);
        source.copyTo(offset, staging, MessageHeader.LENGTH, length);
        if (KillSteps.ENABLED) {
            KillSteps.step("java.portals.staged");
        }
        long taken = c.takenCount;
        int outcome =
                resources.putMessage(
                        c.peerProcess,
                        length,
                        MessageHeader.bits(c.peerHandle, (int) taken, c.sentMessages));
        if (outcome == PortalsOutcome.DELIVERED) {
            c.onTakenTold(taken);
            c.onMessageSent();
            if (KillSteps.ENABLED) {
                KillSteps.step("java.portals.sent");
            }
            source.onPosted(ring.add(c.handle, Operation.SEND, ctx, Status.OK, length));
            return ACCEPTED;
        }
        return sendFailed(c, source, outcome, ctx);
    }

    private int sendFailed(PortalsConnection c, PortalsRegion source, int outcome, long ctx) {
        if (PortalsResources.isToBeRetried(outcome)) {
            return BACK_PRESSURED;
        }
        if (outcome == PortalsOutcome.DROPPED) {
            droppedSends++; // the list is about to be filled up again
            return BACK_PRESSURED;
        }
        complete(c, source, Operation.SEND, ctx, statusOf(outcome), 0);
        if (PortalsResources.isPeerGone(outcome)) {
            connections.lose(c, "its process is gone");
        }
        return ACCEPTED;
    }

    private void complete(
            PortalsConnection c, PortalsRegion r, int operation, long ctx, int status, long value) {
        r.onPosted(ring.add(c.handle, operation, ctx, status, value));
    }

    private static int statusOf(int outcome) {
        if (outcome >= REFUSED_BASE) {
            return outcome - REFUSED_BASE;
        }
        if (outcome == PortalsOutcome.DELIVERED) {
            return Status.OK;
        }
        if (outcome == PortalsOutcome.DROPPED) {
            return Status.STALE_KEY;
        }
        if (PortalsResources.isPeerGone(outcome)) {
            return Status.PEER_DEAD;
        }
        return PortalsResources.isToBeRetried(outcome) ? Status.TIMED_OUT : Status.INTERNAL;
    }

    /** Refused here, before anything is put: 0 if the descriptor allows it. */
    private static int refusal(RemoteDescriptor d, long offset, long length, int right) {
        int status = Ranges.check(d, RemoteDescriptor.KIND_PORTALS, right, offset, length);
        if (status != Status.OK) {
            return status;
        }
        if (d.keyHigh() < Registrations.PORTAL_INDEX_FIRST || d.keyHigh() > Integer.MAX_VALUE) {
            return Status.STALE_KEY;
        }
        if (d.base() < 0 || d.base() > Long.MAX_VALUE - offset - length) {
            return Status.BOUNDS;
        }
        return Status.OK;
    }

    @Override
    protected final int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            PortalsRegion region = own(local, offset, length);
            PortalsConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            boolean isNotifying = operation == Operation.PUT_NOTIFY;
            // The event at the target takes a credit, so that its queue cannot overrun.
            if (ring.isFull() || isNotifying && !connections.hasCredit(c)) {
                return BACK_PRESSURED;
            }
            int outcome = move(c, region, offset, remote, remoteOffset, length, operation, tag);
            if (PortalsResources.isToBeRetried(outcome)) {
                return BACK_PRESSURED;
            }
            if (isNotifying && PortalsResources.isAtTarget(outcome)) {
                c.onCreditUsed();
            }
            int status = statusOf(outcome);
            complete(c, region, operation, context, status, status == Status.OK ? length : 0);
            if (PortalsResources.isPeerGone(outcome)) {
                connections.lose(c, "its process is gone");
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    private int move(
            PortalsConnection c,
            PortalsRegion local,
            long offset,
            RemoteDescriptor d,
            long remoteOffset,
            long length,
            int operation,
            int tag) {
        int refusal = refusal(d, remoteOffset, length, Ranges.right(operation));
        if (refusal != Status.OK) {
            return REFUSED_BASE + refusal;
        }
        MemoryDescriptor from = registrations.local(local);
        if (from == null) {
            return -PortalsCode.NO_SPACE;
        }
        long at = d.base() + remoteOffset;
        int index = (int) d.keyHigh();
        long bits = d.keyLow();
        if (operation == Operation.GET) {
            return resources.get(from, offset, length, c.peerProcess, index, bits, at);
        }
        long header = 0;
        bits &= ~PortalsRegion.NOTIFY_BIT;
        if (operation == Operation.PUT_NOTIFY) {
            header = MessageHeader.notifyBits(c.peerHandle, tag);
            bits |= PortalsRegion.NOTIFY_BIT;
        }
        return resources.put(from, offset, length, c.peerProcess, index, bits, at, header);
    }

    /** Whether every part can start: what has begun cannot be put off any more. */
    private boolean isBound(TransferVector v) {
        for (int i = 0; i < v.count(); i++) {
            if (registrations.local((PortalsRegion) v.region(i)) == null) {
                return false;
            }
        }
        return true;
    }

    @Override
    protected final int transfer(
            int operation,
            long connection,
            TransferVector v,
            RemoteDescriptor d,
            long context,
            int flags) {
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
            if (ring.isFull() || !isBound(v)) {
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
                                operation,
                                0);
                if (i == 0 && PortalsResources.isToBeRetried(outcome)) {
                    return BACK_PRESSURED;
                }
                int status = statusOf(outcome);
                worst = Math.max(worst, status);
                moved += status == Status.OK ? v.length(i) : 0;
            }
            long number = ring.add(c.handle, operation, context, worst, moved);
            for (int i = 0; i < v.count(); i++) {
                ((PortalsRegion) v.region(i)).onPosted(number);
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
    protected final int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags) {
        return NOT_SUPPORTED;
    }
}
