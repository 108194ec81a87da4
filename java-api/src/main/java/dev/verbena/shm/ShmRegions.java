package dev.verbena.shm;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.core.OwnerGuard;
import dev.verbena.transport.core.RegionTable;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;

/** The registered memory of one transport: keys of softnic under which peers reach it. */
final class ShmRegions extends RegionTable<ShmRegion> {
    private static final int DEREGISTER_TIMEOUT_MS_MAX = 10_000;

    private final ShmTransport transport;
    private final NativeScratch scratch;
    private final CompletionRing completions;
    private final Int2ObjectHashMap<ShmRegion> byKey = new Int2ObjectHashMap<>();
    private final long nic;
    private final int deregisterTimeoutMs;

    ShmRegions(
            ShmTransport transport,
            OwnerGuard guard,
            long nic,
            NativeScratch scratch,
            CompletionRing completions,
            long peerTimeoutNs) {
        super(guard);
        this.transport = transport;
        this.nic = nic;
        this.scratch = scratch;
        this.completions = completions;
        this.deregisterTimeoutMs =
                (int) Math.min(DEREGISTER_TIMEOUT_MS_MAX, 1 + peerTimeoutNs / 1_000_000L);
    }

    @Override
    protected ShmRegion make(long id, OffHeapMemory memory, long length, int rights) {
        long address = memory == null ? allocate(length) : memory.address();
        return new ShmRegion(transport, id, address, length, rights, memory);
    }

    /** Toolkit memory, which peers map. */
    private long allocate(long length) {
        scratch.check(
                "snic_memory_alloc of " + length + " bytes",
                softnic.snic_memory_alloc(
                        nic, length, 0, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX));
        return UnsafeApi.getLong(null, scratch.result);
    }

    @Override
    protected void expose(ShmRegion region) {
        if (region.rights() == 0) {
            return;
        }
        scratch.check(
                "snic_register of " + region.length() + " bytes",
                softnic.snic_register(
                        nic,
                        region.address(),
                        region.length(),
                        region.rights(),
                        scratch.key,
                        scratch.why(),
                        Layout.SNIC_WHY_MAX));
        region.onKey(
                UnsafeApi.getInt(null, scratch.key + Layout.KEY_SLOT),
                UnsafeApi.getInt(null, scratch.key + Layout.KEY_GENERATION),
                UnsafeApi.getLong(null, scratch.key + Layout.KEY_SECRET));
        byKey.put(region.keySlot(), region);
    }

    @Override
    protected void revoke(ShmRegion region) {
        if (region.rights() == 0) {
            return;
        }
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, region.keySlot());
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, region.keyGeneration());
        UnsafeApi.putLong(null, scratch.key + Layout.KEY_SECRET, region.keySecret());
        int result = softnic.snic_deregister(nic, scratch.key, deregisterTimeoutMs);
        if (result < 0) {
            throw Errno.exception(
                    "snic_deregister of " + region,
                    result,
                    "a peer has been inside it for %s ms; it may be stopped: try again"
                            .formatted(deregisterTimeoutMs));
        }
        byKey.remove(region.keySlot());
    }

    @Override
    protected boolean isOutstanding(ShmRegion region) {
        return completions.isOutstanding(region.lastCompletion());
    }

    @Override
    protected void free(ShmRegion region, long address) {
        softnic.snic_memory_free(nic, address);
    }

    /** The open region that softnic knows by this key, or null. */
    ShmRegion byKey(int slot, int generation) {
        ShmRegion region = byKey.get(slot);
        return region != null && region.keyGeneration() == generation ? region : null;
    }
}
