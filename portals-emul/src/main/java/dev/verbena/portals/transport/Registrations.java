package dev.verbena.portals.transport;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.EventQueue;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.internal.OwnerGuard;
import java.security.SecureRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.SystemNanoClock;

/** The regions of one transport and the match entries through which peers reach them. */
final class Registrations {
    /** Table entries from here on hold registrations, a few in each list. */
    static final int PORTAL_INDEX_FIRST = 2;

    private static final long PAUSE_NS = 20_000L;
    private static final int TRIES = 50;

    /** Operations that are put off because the table seems to be full, before one says so. */
    private static final int BIND_TRIES = 1000;

    private static final long GOLDEN = 0x9E3779B97F4A7C15L;

    private final OwnerGuard guard;
    private final PortalsInterface ni;
    private final EventQueue notifyQueue;
    private final EventQueue localQueue;
    private final EventRing ring;
    private final long closeTimeoutNs;
    private final int listCount;
    private final Long2ObjectHashMap<PortalsRegion> regions = new Long2ObjectHashMap<>();
    private final long secret = new SecureRandom().nextLong();
    private long made;

    Registrations(OwnerGuard guard, Card card, EventRing ring, long closeTimeoutNs) {
        this.guard = guard;
        this.ni = card.ni;
        this.notifyQueue = card.notifyQueue;
        this.localQueue = card.localQueue;
        this.ring = ring;
        this.closeTimeoutNs = closeTimeoutNs;
        this.listCount = ni.limits().portalIndexMax() + 1 - PORTAL_INDEX_FIRST;
    }

    int count() {
        return regions.size();
    }

    /** The open region with this id, or null. */
    PortalsRegion find(long id) {
        return regions.get(id);
    }

    String names() {
        return regions.values().toString();
    }

    PortalsRegion allocate(long length, int rights) {
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        checkRights(rights);
        PortalsMemory own;
        try {
            own = ni.allocate(length);
        } catch (PortalsException e) {
            throw new TransportException("allocate " + length + " bytes: " + e.getMessage(), 0, e);
        }
        PortalsRegion region =
                new PortalsRegion(this, made + 1, own.address(), length, rights, own, null);
        try {
            publish(region);
        } catch (RuntimeException e) {
            region.retire();
            own.close();
            throw e;
        }
        return region;
    }

    PortalsRegion register(OffHeapMemory memory, int rights) {
        checkRights(rights);
        PortalsRegion region =
                new PortalsRegion(
                        this, made + 1, memory.address(), memory.length(), rights, null, memory);
        memory.acquire(region.user());
        try {
            publish(region);
        } catch (RuntimeException e) {
            region.retire();
            region.releaseMemory();
            throw e;
        }
        return region;
    }

    private static void checkRights(int rights) {
        if ((rights & ~RemoteDescriptor.REMOTE_ALL) != 0) {
            throw new IllegalArgumentException("rights " + rights + " are outside 0 to 7");
        }
    }

    private void publish(PortalsRegion region) {
        made++;
        region.matchBits = mix(secret + made * GOLDEN) & ~PortalsRegion.NOTIFY_BIT;
        region.portalIndex = PORTAL_INDEX_FIRST + (int) (made % listCount);
        boolean isRead = (region.rights() & RemoteDescriptor.REMOTE_READ) != 0;
        boolean isWritten = (region.rights() & RemoteDescriptor.REMOTE_WRITE) != 0;
        try {
            if (isRead || isWritten) {
                region.entry =
                        expose(
                                region,
                                region.matchBits,
                                rules(region).acceptGet(isRead).acceptPut(isWritten));
            }
            if (isWritten) {
                region.notifyEntry =
                        expose(
                                region,
                                region.matchBits | PortalsRegion.NOTIFY_BIT,
                                rules(region).acceptPut(true).queue(notifyQueue));
            }
        } catch (PortalsException e) {
            unpublish(region);
            throw new TransportException(
                    "register " + region.length() + " bytes: " + e.getMessage(), 0, e);
        }
        regions.put(region.id(), region);
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
                                        PortalsInterface.ANY,
                                        PortalsInterface.ANY,
                                        bits,
                                        0,
                                        MatchEntry.UNLINK,
                                        MatchEntry.BEFORE));
        try {
            patiently(() -> entry.attach(rules, MemoryDescriptor.RETAIN));
        } catch (PortalsException e) {
            entry.close();
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
        boolean isPatient = PlantedFaults.ENABLED && PlantedFaults.isOn("portals-bind-waits");
        if (isPatient) {
            region.local = patiently(() -> ni.bind(rules, MemoryDescriptor.RETAIN));
            return;
        }
        try {
            region.local = ni.bind(rules, MemoryDescriptor.RETAIN);
            region.bindTries = 0;
        } catch (PortalsException e) {
            // Either the table is full or a peer that holds the lock is stopped: the code is one.
            region.bindTries++;
            if (e.code() != PortalsCode.NO_SPACE || region.bindTries >= BIND_TRIES) {
                region.bindTries = 0;
                throw e;
            }
        }
    }

    /**
     * For the control path. A peer that was put off the processor while it holds the lock of this
     * interface is waited for a while: calls answer that as they do a full table, after the time
     * limit of one lock.
     */
    private static <T> T patiently(Supplier<T> call) {
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

    /** Revokes, waits for accesses that peers have begun, frees. */
    void close(PortalsRegion region) {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: the transport of " + region);
        }
        try {
            if (region.isClosed()) {
                return;
            }
            if (ring.isOutstanding(region.lastCompletion)) {
                throw new IllegalStateException(
                        region + " has operations whose completions were not polled");
            }
            unpublish(region);
            regions.remove(region.id());
            region.retire();
            region.releaseMemory();
            if (region.own != null) {
                region.own.close();
            }
        } finally {
            guard.exit();
        }
    }

    private void unpublish(PortalsRegion region) {
        long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + closeTimeoutNs;
        while (!tryUnpublish(region)) {
            ni.reap(); // an initiator that died keeps nothing busy
            if (deadlineNs - SystemNanoClock.INSTANCE.nanoTime() < 0) {
                throw new TransportException(
                        "PtlMEUnlink: PTL_ME_IN_USE for "
                                + region
                                + ": a peer has begun an access and is stopped");
            }
            LockSupport.parkNanos(PAUSE_NS);
        }
    }

    private static boolean tryUnpublish(PortalsRegion region) {
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
