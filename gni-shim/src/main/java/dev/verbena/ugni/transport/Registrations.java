package dev.verbena.ugni.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.RegionTable;
import dev.verbena.ugni.bindings.ugni;
import org.agrona.collections.Int2ObjectHashMap;

/** The regions of one transport, and the memory handles under which they are reached. */
final class Registrations extends RegionTable<GniRegion> {
    /** Gets move whole words, so what is registered begins and ends at one. */
    private static final long GRAIN = 8;

    /** Where a memory handle names its registration, which no other has meanwhile. */
    private static final int INDEX_SHIFT = 42;

    private static final int INDEX_MASK = 0xFFF;

    private final GniResources resources;
    private final Int2ObjectHashMap<GniRegion> byIndex = new Int2ObjectHashMap<>();

    Registrations(OwnerGuard guard, GniResources resources) {
        super(guard);
        this.resources = resources;
    }

    int generation() {
        return GniPeer.generation(resources.incarnation);
    }

    /** The open region that peers reach by this memory handle, or null. */
    GniRegion find(long low, long high) {
        GniRegion region = byIndex.get(index(high));
        return region != null && region.remoteLow == low && region.remoteHigh == high
                ? region
                : null;
    }

    private static int index(long high) {
        return (int) (high >>> INDEX_SHIFT) & INDEX_MASK;
    }

    private static long up(long value) {
        return value + GRAIN - 1 & -GRAIN;
    }

    @Override
    protected GniRegion make(long id, OffHeapMemory memory, long length, int rights) {
        long address = memory == null ? allocate(length) : memory.address();
        return new GniRegion(this, id, address, length, rights, memory);
    }

    private long allocate(long length) {
        try {
            return resources.allocate(up(length));
        } catch (GniFailure e) {
            throw new TransportException("allocate " + length + " bytes: " + e.getMessage(), 0, e);
        }
    }

    @Override
    protected void expose(GniRegion region) {
        long begin = region.address() & -GRAIN;
        long length = up(region.address() + Math.max(1, region.length())) - begin;
        try {
            registerHere(region, begin, length);
            if (region.rights() == RemoteDescriptor.REMOTE_READ && !region.isReadOnly()) {
                resources.register(begin, length, ugni.GNI_MEM_READ_ONLY, false);
                region.onRemote(resources.handleLow(), resources.handleHigh());
            } else if (region.rights() != 0) {
                region.onRemote(region.localLow, region.localHigh);
            }
        } catch (GniFailure e) {
            deregister(region);
            throw new TransportException(
                    "register " + region.length() + " bytes: " + e.getMessage(), 0, e);
        }
        if (region.rights() != 0) {
            reached(region);
        }
    }

    /** Peers reach it by its memory handle. */
    void reached(GniRegion region) {
        byIndex.put(index(region.remoteHigh), region);
    }

    /** Its memory handle leads nowhere any more. */
    void reachedNoMore(GniRegion region) {
        int index = index(region.remoteHigh);
        if (byIndex.get(index) == region) {
            byIndex.remove(index);
        }
    }

    /**
     * For operations started here, which may write: a get does. Memory handed in that this process
     * itself may only read is taken as such, unless peers are to write it.
     */
    private void registerHere(GniRegion region, long begin, long length) {
        boolean isWrittenByPeers = (region.rights() & ~RemoteDescriptor.REMOTE_READ) != 0;
        boolean isReadOnly = false;
        try {
            resources.register(begin, length, 0, false);
        } catch (GniFailure e) {
            if (e.code != ugni.GNI_RC_PERMISSION_ERROR || isWrittenByPeers) {
                throw e;
            }
            resources.register(begin, length, ugni.GNI_MEM_READ_ONLY, false);
            isReadOnly = true;
        }
        region.onLocal(resources.handleLow(), resources.handleHigh(), isReadOnly);
    }

    /** Peers' handle first: if one of them is still inside, nothing else has changed. */
    private void deregister(GniRegion region) {
        if (region.remoteHigh != 0 && region.remoteHigh != region.localHigh) {
            resources.deregister(region.remoteLow, region.remoteHigh);
        }
        if (region.localHigh != 0) {
            resources.deregister(region.localLow, region.localHigh);
        }
    }

    @Override
    protected void revoke(GniRegion region) {
        try {
            deregister(region);
        } catch (GniFailure e) {
            throw new TransportException("close " + region + ": " + e.getMessage(), 0, e);
        }
        reachedNoMore(region);
    }

    @Override
    protected boolean isOutstanding(GniRegion region) {
        return region.users() > 0;
    }

    @Override
    protected void free(GniRegion region, long address) {
        resources.free(address);
    }
}
