package dev.verbena.shm;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * The registered memory of one transport: makes regions, registers them with softnic and ends them.
 * Owned by the transport's thread, but for {@link #names}.
 */
final class ShmRegions {
    private static final int DEREGISTER_TIMEOUT_MS_MAX = 10_000;

    private final ShmTransport transport;
    private final NativeScratch scratch;
    private final CompletionRing completions;
    private final Map<Long, ShmRegion> byId = new ConcurrentHashMap<>();
    private final Int2ObjectHashMap<ShmRegion> byKey = new Int2ObjectHashMap<>();
    private final long nic;
    private final int deregisterTimeoutMs;
    private long nextId = 1;

    ShmRegions(
            ShmTransport transport,
            long nic,
            NativeScratch scratch,
            CompletionRing completions,
            long peerTimeoutNs) {
        this.transport = transport;
        this.nic = nic;
        this.scratch = scratch;
        this.completions = completions;
        this.deregisterTimeoutMs =
                (int) Math.min(DEREGISTER_TIMEOUT_MS_MAX, 1 + peerTimeoutNs / 1_000_000L);
    }

    /** Toolkit memory, which peers map. */
    ShmRegion allocate(long length, int rights) {
        checkRights(rights);
        if (length < 1) {
            throw new IllegalArgumentException("length " + length + " is below 1");
        }
        int result =
                softnic.snic_memory_alloc(
                        nic, length, 0, scratch.result, scratch.why(), Layout.SNIC_WHY_MAX);
        if (result < 0) {
            throw Errno.exception(
                    "snic_memory_alloc of " + length + " bytes", result, scratch.explanation());
        }
        long address = UnsafeApi.getLong(null, scratch.result);
        try {
            return register(address, length, rights, null);
        } catch (RuntimeException e) {
            softnic.snic_memory_free(nic, address);
            throw e;
        }
    }

    /** Memory handed in, which stays its owner's. */
    ShmRegion register(OffHeapMemory memory, int rights) {
        checkRights(rights);
        String user = "region " + nextId + " of " + transport;
        memory.acquire(user);
        try {
            return register(memory.address(), memory.length(), rights, memory);
        } catch (RuntimeException e) {
            memory.release(user);
            throw e;
        }
    }

    private ShmRegion register(long address, long length, int rights, OffHeapMemory memory) {
        int slot = -1;
        int generation = 0;
        long secret = 0;
        if (rights != 0) {
            int result =
                    softnic.snic_register(
                            nic,
                            address,
                            length,
                            rights,
                            scratch.key,
                            scratch.why(),
                            Layout.SNIC_WHY_MAX);
            if (result < 0) {
                throw Errno.exception(
                        "snic_register of " + length + " bytes", result, scratch.explanation());
            }
            slot = UnsafeApi.getInt(null, scratch.key + Layout.KEY_SLOT);
            generation = UnsafeApi.getInt(null, scratch.key + Layout.KEY_GENERATION);
            secret = UnsafeApi.getLong(null, scratch.key + Layout.KEY_SECRET);
        }
        ShmRegion region =
                new ShmRegion(
                        transport,
                        nextId++,
                        address,
                        length,
                        rights,
                        memory,
                        slot,
                        generation,
                        secret);
        byId.put(region.id(), region);
        if (rights != 0) {
            byKey.put(slot, region);
        }
        return region;
    }

    void close(ShmRegion region) {
        if (region.isClosed()) {
            return;
        }
        if (completions.isOutstanding(region.lastCompletion)) {
            throw new IllegalStateException(
                    region + ": operations posted from it are outstanding; poll first");
        }
        if (region.rights() != 0) {
            deregister(region);
            byKey.remove(region.keySlot);
        }
        long address = region.retire();
        byId.remove(region.id());
        if (region.isToolkitMemory()) {
            softnic.snic_memory_free(nic, address);
        } else {
            region.releaseMemory();
        }
    }

    private void deregister(ShmRegion region) {
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_SLOT, region.keySlot);
        UnsafeApi.putInt(null, scratch.key + Layout.KEY_GENERATION, region.keyGeneration);
        UnsafeApi.putLong(null, scratch.key + Layout.KEY_SECRET, region.keySecret);
        int result = softnic.snic_deregister(nic, scratch.key, deregisterTimeoutMs);
        if (result < 0) {
            throw Errno.exception(
                    "snic_deregister of " + region,
                    result,
                    "a peer has been inside it for "
                            + deregisterTimeoutMs
                            + " ms; it may be stopped: try again");
        }
    }

    private static void checkRights(int rights) {
        if ((rights & ~RemoteDescriptor.REMOTE_ALL) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are outside 0 to " + RemoteDescriptor.REMOTE_ALL);
        }
    }

    /** The open region that softnic knows by this key, or null. */
    ShmRegion byKey(int slot, int generation) {
        ShmRegion region = byKey.get(slot);
        return region != null && region.keyGeneration == generation ? region : null;
    }

    /** The open regions in words, or null if there is none. Any thread. */
    String names() {
        return byId.isEmpty() ? null : byId.values().toString();
    }
}
