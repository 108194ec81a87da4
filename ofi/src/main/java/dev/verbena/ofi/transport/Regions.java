package dev.verbena.ofi.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.ofi.MemoryRegion;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.RegionTable;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * The regions of one transport. A region whose key peers were told outlives its close: its memory
 * stays, unseen, until they have answered. In the place of memory that was handed in there is other
 * memory for what they begin, where the provider names memory by offsets.
 */
final class Regions extends RegionTable<OfiRegion> {
    private static final long ANY_KEY = -1;
    private static final long OPERATIONS = MemoryRegion.SEND | MemoryRegion.RECEIVE;

    /** Tells peers that a key is of no region any more. */
    interface Revoker {
        /** One connection is to be told. */
        void revoke(int connection, long key);

        /** Whether one of those who know the region may answer soon. */
        boolean mayAnswer(OfiRegion region);

        /** Lets peers answer for a short time. */
        void await(OfiRegion region);
    }

    private final OfiResources resources;
    private final EventRing ring;
    private final Long2ObjectHashMap<OfiRegion> byKey = new Long2ObjectHashMap<>();
    private final Long2ObjectHashMap<OffHeapMemory> own = new Long2ObjectHashMap<>();

    /** Closed regions that peers may still reach. */
    private final List<OfiRegion> retired = new ArrayList<>();

    private Revoker revoker;

    /** By what peers are to ask for the region that is registered now; below 0: anything. */
    private long wantedKey = ANY_KEY;

    /** A region that closes just now and waits for its users' answers, or null. */
    private OfiRegion closing;

    Regions(OwnerGuard guard, OfiResources resources, EventRing ring) {
        super(guard);
        this.ring = ring;
        this.resources = resources;
    }

    void revoker(Revoker revoker) {
        this.revoker = revoker;
    }

    long incarnation() {
        return resources.incarnation;
    }

    /** The key that peers give the provider. */
    long providerKey(OfiRegion region) {
        return fabric.vfi_mr_key(region.registration);
    }

    /** The open region with this key, or null. */
    OfiRegion ofKey(long key) {
        return byKey.get(key);
    }

    /** As {@link #register}; peers ask for it by this number, unless another region has it. */
    OfiRegion register(OffHeapMemory memory, int rights, long key) {
        wantedKey = key;
        try {
            return register(memory, rights);
        } finally {
            wantedKey = ANY_KEY;
        }
    }

    @Override
    protected OfiRegion make(long id, OffHeapMemory memory, long length, int rights) {
        long key = wantedKey == ANY_KEY ? resources.randomKey() : wantedKey;
        while (byKey.containsKey(key)) {
            key = resources.randomKey();
        }
        if (memory != null) {
            boolean isReadOnly = !MemoryMap.isWritable(memory.address(), length);
            if (isReadOnly && (rights & ~RemoteDescriptor.REMOTE_READ) != 0) {
                throw new TransportException(
                        "register "
                                + length
                                + " bytes: this process may only read the memory; register it"
                                + " without rights to write");
            }
            return new OfiRegion(
                    this, id, key, memory.address(), length, rights, memory, isReadOnly);
        }
        OffHeapMemory made;
        try {
            made = OffHeapMemories.allocate(length);
        } catch (OutOfMemoryError e) {
            throw new TransportException(e.getMessage(), 0, e);
        }
        own.put(id, made);
        return new OfiRegion(this, id, key, made.address(), length, rights, null, false);
    }

    @Override
    protected void expose(OfiRegion region) {
        if (region.rights() != 0 || resources.info.needsLocalRegistration()) {
            try {
                long mr = register(region);
                region.registered(mr, fabric.vfi_mr_descriptor(mr));
            } catch (OfiFailure e) {
                throw new TransportException(
                        "register " + region.length() + " bytes: " + e.getMessage(), 0, e);
            }
        }
        byKey.put(region.key, region);
    }

    private long register(OfiRegion region) {
        long remote = access(region.rights());
        long own = region.isReadOnly ? MemoryRegion.SEND : OPERATIONS;
        return resources.register(region.begin(), region.length(), own | remote, region.key);
    }

    private static long access(int rights) {
        boolean isRead = (rights & RemoteDescriptor.REMOTE_READ) != 0;
        boolean isWritten = (rights & RemoteDescriptor.REMOTE_WRITE) != 0;
        boolean isAtomic = (rights & RemoteDescriptor.REMOTE_ATOMIC) != 0;
        return (isRead || isAtomic ? MemoryRegion.REMOTE_READ : 0)
                | (isWritten || isAtomic ? MemoryRegion.REMOTE_WRITE : 0);
    }

    @Override
    protected void revoke(OfiRegion region) {
        byKey.remove(region.key);
        closing = region;
        List.copyOf(region.users).forEach(c -> revoker.revoke(c, region.key));
        if (!region.isToolkitMemory() && revoker.mayAnswer(region)) {
            revoker.await(region);
        }
        closing = null;
        if (region.isToolkitMemory()) {
            return; // only the transport looks at it from now on
        }
        deregister(region);
        if (!region.users.isEmpty() && !resources.info.usesVirtualAddresses()) {
            divert(region);
        }
    }

    /** What peers that have not answered yet begin to put goes to memory that nobody looks at. */
    private void divert(OfiRegion region) {
        try {
            OffHeapMemory memory = OffHeapMemories.allocate(region.length());
            own.put(region.id(), memory);
            // Not to be read: an atomic fails. What ofi_rxm registers can be read in any case.
            long access = OPERATIONS | MemoryRegion.REMOTE_WRITE;
            long address = memory.address();
            long mr = resources.register(address, memory.length(), access, region.key);
            region.registered(mr, 0);
        } catch (OfiFailure | OutOfMemoryError e) {
            return; // then the provider refuses what they begin
        }
    }

    private void deregister(OfiRegion region) {
        if (region.registration != 0) {
            resources.deregister(region.registration);
            region.registered(0, 0);
        }
    }

    @Override
    protected boolean isOutstanding(OfiRegion region) {
        return region.users() > 0 || ring.isOutstanding(region.lastCompletion());
    }

    @Override
    protected void free(OfiRegion region, long address) {
        release(region);
    }

    @Override
    protected void release(OfiRegion region) {
        if (region.isReachable()) {
            retired.add(region);
        } else {
            deregister(region);
            freeMemory(region);
        }
    }

    private void freeMemory(OfiRegion region) {
        CloseHelper.close(own.remove(region.id()));
        region.releaseMemory();
    }

    // ---- closed regions that peers may still reach ----

    /** This connection uses the key no more: it said so. */
    void onRevoked(int connection, long key) {
        if (closing != null && closing.key == key) {
            closing.users.remove(connection);
        }
        for (int i = 0; i < retired.size(); i++) {
            if (retired.get(i).key == key) {
                retired.get(i).users.remove(connection);
            }
        }
        settle();
    }

    /** Whether a region is there whose key this connection's peer was told. */
    boolean isKnownTo(int connection) {
        if (closing != null && closing.users.contains(connection)) {
            return true;
        }
        for (OfiRegion region : byKey.values()) {
            if (region.users.contains(connection)) {
                return true;
            }
        }
        for (int i = 0; i < retired.size(); i++) {
            if (retired.get(i).users.contains(connection)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Nothing arrives by this connection any more. Before that a part of a put may have arrived;
     * the provider places the rest when it comes to it, also after the end of the registration.
     */
    void onEnded(int connection) {
        if (closing != null) {
            closing.users.remove(connection);
        }
        for (OfiRegion region : byKey.values()) {
            region.users.remove(connection);
        }
        for (int i = 0; i < retired.size(); i++) {
            retired.get(i).users.remove(connection);
        }
        settle();
    }

    /** Frees what nobody reaches any more. */
    void settle() {
        for (int i = retired.size() - 1; i >= 0; i--) {
            if (!retired.get(i).isReachable()) {
                release(retired.remove(i));
            }
        }
    }

    /** Gives everything back; the endpoint is to close next, so nothing arrives any more. */
    void deregisterRetired() {
        retired.forEach(this::deregister);
    }

    /** After the endpoint's end. */
    void close() {
        retired.forEach(this::freeMemory);
        retired.clear();
    }
}
