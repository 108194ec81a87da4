package dev.verbena.auto;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransferSum;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.core.GuardedTransport;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.TransportPart;
import java.net.URI;
import org.agrona.collections.LongHashSet;

/**
 * The data path of {@link AutoTransport}: each operation goes to the part of its connection, with
 * that part's region and descriptor. A superclass and not a part, so that an operation finds what
 * it needs one load away.
 */
abstract class AutoOperations extends GuardedTransport {
    private static final int PART_BITS = 2;
    private static final int PART_MASK = (1 << PART_BITS) - 1;
    private static final int NONE = -1;

    final TransportPart[] parts;
    final AutoRegions regions;
    private final Translations translations = new Translations();

    /** Segments of a vector with the regions of a part; grows to the longest that was used. */
    private TransferVector segments = new TransferVector(16);

    private int segmentsMax = 16;

    private final int outstandingMax;

    /** Operations accepted and not polled. */
    private int outstanding;

    /** Handles in use. */
    private final LongHashSet connections = new LongHashSet();

    /** Those whose user has not answered yet. */
    private final LongHashSet offers = new LongHashSet();

    /** How many of them each part has. */
    private final int[] counts;

    AutoOperations(URI uri, TransportLimits limits, TransportPart[] parts) {
        super(uri.toString(), uri, limits, thread -> moveTo(parts, thread));
        this.parts = parts;
        this.outstandingMax = limits.outstandingMax();
        this.counts = new int[parts.length];
        this.regions = new AutoRegions(guard, parts);
    }

    private static void moveTo(TransportPart[] parts, Thread thread) {
        for (TransportPart part : parts) {
            part.moveTo(thread);
        }
    }

    // ---- handles ----

    /** What the user knows a part's connection by. */
    static long handle(int part, long inner) {
        return inner << PART_BITS | part;
    }

    /** The part of a handle, or {@link #NONE}. */
    final int partOf(long handle) {
        int part = (int) handle & PART_MASK;
        return handle > 0 && part < parts.length ? part : NONE;
    }

    /** The part's own handle. */
    static long inner(long handle) {
        return handle >> PART_BITS;
    }

    /** One more connection, or attempt at one. */
    final void opened(long handle) {
        if (connections.add(handle)) {
            counts[partOf(handle)]++;
        }
    }

    /** A peer asks for it; the user is to answer. */
    final void offered(long handle) {
        opened(handle);
        offers.add(handle);
    }

    /** The user has answered what a peer asked for; whether that was due. */
    final boolean answered(long handle) {
        return offers.remove(handle);
    }

    /** It has ended. */
    final void ended(long handle) {
        offers.remove(handle);
        if (connections.remove(handle)) {
            counts[partOf(handle)]--;
        }
    }

    final int connectionCount() {
        return connections.size();
    }

    /** How many connections a part has; to other threads than the owner an estimate. */
    final int connectionCount(int part) {
        return counts[part];
    }

    // ---- operations ----

    private AutoRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof AutoRegion own) || own.regions != regions) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    private RemoteDescriptor translated(int part, long connection, RemoteDescriptor shared) {
        return translations.of(parts[part], connection, inner(connection), shared);
    }

    private boolean isFull() {
        return outstanding >= outstandingMax;
    }

    private static int refusal(int part) {
        return part == NONE ? NOT_CONNECTED : BACK_PRESSURED;
    }

    private int posted(int answer) {
        outstanding += answer == ACCEPTED ? 1 : 0;
        return answer;
    }

    /** A completion was delivered. */
    final void polled() {
        outstanding--;
    }

    @Override
    public final int send(
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
            AutoRegion region = own(source, offset, length);
            int part = partOf(connection);
            if (part == NONE || isFull()) {
                return refusal(part);
            }
            return posted(
                    parts[part].send(
                            inner(connection),
                            regions.at(part, region),
                            offset,
                            length,
                            context,
                            flags));
        } finally {
            guard.exit();
        }
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
            AutoRegion region = own(local, offset, length);
            int part = partOf(connection);
            if (part == NONE || isFull()) {
                return refusal(part);
            }
            TransportPart to = parts[part];
            long inner = inner(connection);
            RegisteredRegion at = regions.at(part, region);
            RemoteDescriptor d = translated(part, connection, remote);
            return posted(
                    switch (operation) {
                        case Operation.PUT ->
                                to.put(inner, at, offset, d, remoteOffset, length, context, flags);
                        case Operation.GET ->
                                to.get(inner, at, offset, d, remoteOffset, length, context, flags);
                        default ->
                                to.putNotify(
                                        inner,
                                        at,
                                        offset,
                                        d,
                                        remoteOffset,
                                        length,
                                        tag,
                                        context,
                                        flags);
                    });
        } finally {
            guard.exit();
        }
    }

    @Override
    public final int transferSummed(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            TransferSum sum,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            AutoRegion region = own(local, offset, length);
            int part = partOf(connection);
            if (part == NONE || isFull()) {
                return refusal(part);
            }
            return posted(
                    parts[part].transferSummed(
                            operation,
                            inner(connection),
                            regions.at(part, region),
                            offset,
                            translated(part, connection, remote),
                            remoteOffset,
                            length,
                            sum,
                            context,
                            flags));
        } finally {
            guard.exit();
        }
    }

    @Override
    protected final int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            for (int i = 0; i < vector.count(); i++) {
                own(vector.region(i), vector.offset(i), vector.length(i));
            }
            int part = partOf(connection);
            if (part == NONE || isFull()) {
                return refusal(part);
            }
            TransferVector own = segments(part, vector);
            RemoteDescriptor d = translated(part, connection, remote);
            return posted(
                    operation == Operation.PUT
                            ? parts[part].put(inner(connection), own, d, context, flags)
                            : parts[part].get(inner(connection), own, d, context, flags));
        } finally {
            guard.exit();
        }
    }

    private TransferVector segments(int part, TransferVector vector) {
        if (vector.count() > segmentsMax) {
            segmentsMax = vector.count();
            segments = new TransferVector(segmentsMax);
        }
        segments.clear();
        for (int i = 0; i < vector.count(); i++) {
            segments.add(
                    regions.at(part, (AutoRegion) vector.region(i)),
                    vector.offset(i),
                    vector.remoteOffset(i),
                    vector.length(i));
        }
        return segments;
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
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            int part = partOf(connection);
            if (!hasAtomics()) {
                return NOT_SUPPORTED;
            }
            if (part == NONE || isFull()) {
                return refusal(part);
            }
            Ranges.requireAligned(target, targetOffset);
            TransportPart to = parts[part];
            long inner = inner(connection);
            RemoteDescriptor d = translated(part, connection, target);
            return posted(
                    operation == Operation.FETCH_ADD
                            ? to.fetchAdd(inner, d, targetOffset, operand, context, flags)
                            : to.compareSwap(
                                    inner, d, targetOffset, operand, update, context, flags));
        } finally {
            guard.exit();
        }
    }

    /** Whether atomics of all parts agree with one another. */
    abstract boolean hasAtomics();
}
