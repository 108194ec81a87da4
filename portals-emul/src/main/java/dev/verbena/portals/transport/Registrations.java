package dev.verbena.portals.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.EventQueue;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MatchEntryContext;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.RegionTable;
import java.security.SecureRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.SystemNanoClock;

/** The regions of one transport and the match entries through which peers reach them. */
final class Registrations extends RegionTable<PortalsRegion> {
    /** Table entries from here on hold registrations, a few in each list. */
    static final int PORTAL_INDEX_FIRST = 2;

    private static final long PAUSE_NS = 20_000L;
    private static final int TRIES = 50;

    /** Operations that are put off because the table seems to be full, before one says so. */
    private static final int BIND_TRIES = 1000;

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final PortalsInterface ni;
    private final EventQueue notifyQueue;
    private final EventQueue localQueue;
    private final EventRing ring;
    private final long closeTimeoutNs;
    private final int listCount;
    private final long secret = new SecureRandom().nextLong();

    Registrations(
            OwnerGuard guard, PortalsResources resources, EventRing ring, long closeTimeoutNs) {
        super(guard);
        this.ni = resources.ni;
        this.notifyQueue = resources.notifyQueue;
        this.localQueue = resources.localQueue;
        this.ring = ring;
        this.closeTimeoutNs = closeTimeoutNs;
        this.listCount = ni.limits().portalIndexMax() + 1 - PORTAL_INDEX_FIRST;
    }

    @Override
    protected PortalsRegion make(long id, OffHeapMemory memory, long length, int rights) {
        PortalsMemory own = memory == null ? allocate(length) : null;
        long address = own == null ? memory.address() : own.address();
        return new PortalsRegion(
                this,
                id,
                address,
                length,
                rights,
                own,
                memory,
                mix(secret + id * GOLDEN) & ~PortalsRegion.NOTIFY_BIT,
                PORTAL_INDEX_FIRST + (int) (id % listCount));
    }

    private PortalsMemory allocate(long length) {
        try {
            return ni.allocate(length);
        } catch (PortalsException e) {
            throw new TransportException("allocate " + length + " bytes: " + e.getMessage(), 0, e);
        }
    }

    @Override
    protected void expose(PortalsRegion region) {
        boolean isRead = (region.rights() & RemoteDescriptor.REMOTE_READ) != 0;
        boolean isWritten = (region.rights() & RemoteDescriptor.REMOTE_WRITE) != 0;
        try {
            if (isRead || isWritten) {
                region.exposed(
                        expose(
                                region,
                                region.matchBits,
                                rules(region).acceptGet(isRead).acceptPut(isWritten)));
            }
            if (isWritten) {
                region.exposedToNotify(
                        expose(
                                region,
                                region.matchBits | PortalsRegion.NOTIFY_BIT,
                                rules(region).acceptPut(true).queue(notifyQueue)));
            }
        } catch (PortalsException e) {
            revoke(region);
            throw new TransportException(
                    "register " + region.length() + " bytes: " + e.getMessage(), 0, e);
        }
    }

    private static MemoryDescriptorContext rules(PortalsRegion region) {
        return new MemoryDescriptorContext()
                .region(region.address(), region.length())
                .remoteOffset(true)
                .startEvents(false)
                .userPointer(region.id());
    }

    private MatchEntry expose(PortalsRegion region, long bits, MemoryDescriptorContext rules) {
        MatchEntry entry =
                patiently(
                        () ->
                                ni.attach(
                                        region.portalIndex,
                                        new MatchEntryContext().matchBits(bits).unlink().before()));
        try {
            patiently(() -> entry.attach(rules, MemoryDescriptor.RETAIN));
        } catch (PortalsException e) {
            untilDone(region, entry::tryUnlink);
            throw e;
        }
        return entry;
    }

    /**
     * The descriptor from which operations start, bound at the first. Does not wait: one try to
     * bind it in a call.
     *
     * @return null if it cannot be bound now: ask again
     * @throws PortalsException if it could not be bound for many calls
     */
    MemoryDescriptor local(PortalsRegion region) {
        if (region.local == null) {
            bind(region);
        }
        return region.local;
    }

    private void bind(PortalsRegion region) {
        MemoryDescriptorContext rules =
                new MemoryDescriptorContext()
                        .region(region.address(), region.length())
                        .startEvents(false)
                        .queue(localQueue);
        try {
            region.bound(ni.bind(rules, MemoryDescriptor.RETAIN));
        } catch (PortalsException e) {
            // Either the table is full or a peer that holds the lock is stopped: the code is one.
            if (region.bindFailed() >= BIND_TRIES || e.code() != PortalsCode.NO_SPACE) {
                region.bindFailureTold();
                throw e;
            }
        }
    }

    /**
     * For the control path. A peer that was put off the processor while it holds the lock of this
     * interface is waited for a while: calls answer that as they do a full table, after the time
     * limit of one lock.
     */
    static <T> T patiently(Supplier<T> call) {
        for (int tries = 1; ; tries++) {
            try {
                return call.get();
            } catch (PortalsException e) {
                if (e.code() != PortalsCode.NO_SPACE || tries == TRIES) {
                    throw e;
                }
            }
        }
    }

    @Override
    protected boolean isOutstanding(PortalsRegion region) {
        return ring.isOutstanding(region.lastCompletion());
    }

    @Override
    protected void free(PortalsRegion region, long address) {
        untilDone(region, () -> tryFree(region.own));
    }

    private static boolean tryFree(PortalsMemory memory) {
        try {
            memory.close();
            return true;
        } catch (PortalsException e) {
            if (e.code() != PortalsCode.NO_SPACE) {
                throw e;
            }
            return false;
        }
    }

    @Override
    protected void revoke(PortalsRegion region) {
        untilDone(region, () -> tryRevoke(region));
    }

    private void untilDone(PortalsRegion region, BooleanSupplier attempt) {
        long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + closeTimeoutNs;
        while (!attempt.getAsBoolean()) {
            ni.reap(); // an initiator that died keeps nothing busy
            if (deadlineNs - SystemNanoClock.INSTANCE.nanoTime() < 0) {
                throw new TransportException(
                        "close %s: a peer is stopped within an access to it or to a list"
                                .formatted(region));
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static boolean tryRevoke(PortalsRegion region) {
        // Operators without short cut: each refuses new accesses at once.
        return (region.entry == null || region.entry.tryUnlink())
                & (region.notifyEntry == null || region.notifyEntry.tryUnlink())
                & (region.local == null || region.local.tryUnlink());
    }

    private static long mix(long value) {
        long z = value;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return z ^ z >>> 31;
    }
}
