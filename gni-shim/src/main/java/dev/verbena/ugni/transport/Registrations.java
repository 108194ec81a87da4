package dev.verbena.ugni.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.internal.OwnerGuard;
import org.agrona.collections.Long2ObjectHashMap;

/** The regions of one transport, and the memory handles under which they are reached. */
final class Registrations {
    /** Gets move whole words, so what is registered begins and ends at one. */
    private static final long GRAIN = 8;

    private static final int MIX = 31;

    private final OwnerGuard guard;
    private final Card card;
    private final Long2ObjectHashMap<GniRegion> regions = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<GniRegion> byHandle = new Long2ObjectHashMap<>();
    private long made;

    Registrations(OwnerGuard guard, Card card) {
        this.guard = guard;
        this.card = card;
    }

    int generation() {
        return GniPeer.generation(card.incarnation);
    }

    int count() {
        return regions.size();
    }

    String names() {
        return regions.values().toString();
    }

    /** The open region that peers reach by this memory handle, or null. */
    GniRegion find(long low, long high) {
        GniRegion region = byHandle.get(mix(low, high));
        return region != null && region.remoteLow == low && region.remoteHigh == high
                ? region
                : null;
    }

    private static long mix(long low, long high) {
        return low * MIX ^ high;
    }

    private static long up(long value) {
        return value + GRAIN - 1 & -GRAIN;
    }

    GniRegion allocate(long length, int rights) {
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        checkRights(rights);
        long own;
        try {
            own = card.allocate(up(length));
        } catch (GniFailure e) {
            throw new TransportException("allocate " + length + " bytes: " + e.getMessage(), 0, e);
        }
        GniRegion region = new GniRegion(this, made + 1, own, length, rights, own, null);
        try {
            publish(region);
        } catch (RuntimeException e) {
            region.retire();
            card.free(own);
            throw e;
        }
        return region;
    }

    GniRegion register(OffHeapMemory memory, int rights) {
        checkRights(rights);
        GniRegion region =
                new GniRegion(this, made + 1, memory.address(), memory.length(), rights, 0, memory);
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

    private void publish(GniRegion region) {
        made++;
        long begin = region.address() & -GRAIN;
        long length = up(region.address() + Math.max(1, region.length())) - begin;
        try {
            registerHere(region, begin, length);
            if (region.rights() == RemoteDescriptor.REMOTE_READ && !region.isReadOnly) {
                card.register(begin, length, Gni.MEM_READ_ONLY, false);
                region.remoteLow = card.handleLow();
                region.remoteHigh = card.handleHigh();
            } else if (region.rights() != 0) {
                region.remoteLow = region.localLow;
                region.remoteHigh = region.localHigh;
            }
        } catch (GniFailure e) {
            unpublish(region);
            throw new TransportException(
                    "register " + region.length() + " bytes: " + e.getMessage(), 0, e);
        }
        regions.put(region.id(), region);
        if (region.rights() != 0) {
            byHandle.put(mix(region.remoteLow, region.remoteHigh), region);
        }
    }

    /**
     * For operations started here, which may write: a get does. Memory handed in that this process
     * itself may only read is taken as such, unless peers are to write it.
     */
    private void registerHere(GniRegion region, long begin, long length) {
        boolean isWrittenByPeers = (region.rights() & ~RemoteDescriptor.REMOTE_READ) != 0;
        try {
            card.register(begin, length, 0, false);
        } catch (GniFailure e) {
            if (e.code != Gni.PERMISSION_ERROR || isWrittenByPeers) {
                throw e;
            }
            card.register(begin, length, Gni.MEM_READ_ONLY, false);
            region.isReadOnly = true;
        }
        region.localLow = card.handleLow();
        region.localHigh = card.handleHigh();
    }

    private void unpublish(GniRegion region) {
        if (region.localHigh != 0) {
            card.deregister(region.localLow, region.localHigh);
        }
        if (region.remoteHigh != 0 && region.remoteHigh != region.localHigh) {
            card.deregister(region.remoteLow, region.remoteHigh);
        }
    }

    /** Revokes, waits for accesses that peers have begun, frees. */
    void close(GniRegion region) {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: the transport of " + region);
        }
        try {
            if (region.isClosed()) {
                return;
            }
            if (region.outstanding > 0) {
                throw new IllegalStateException(
                        region + " has operations whose completions were not polled");
            }
            unpublish(region);
            regions.remove(region.id());
            byHandle.remove(mix(region.remoteLow, region.remoteHigh));
            region.retire();
            region.releaseMemory();
            if (region.own != 0) {
                card.free(region.own);
            }
        } finally {
            guard.exit();
        }
    }
}
