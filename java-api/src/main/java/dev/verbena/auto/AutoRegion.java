package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportRegion;

/**
 * A region of an {@link AutoTransport}: one region of each part that was needed so far. Owned by
 * the transport's thread.
 */
final class AutoRegion extends TransportRegion {
    final AutoRegions regions;

    /** What the parts register; the region's own memory, or what was handed in. */
    private final OffHeapMemory registered;

    /** By part; null: not registered there yet. */
    private final RegisteredRegion[] parts;

    /** Null until it is described. */
    private SharedKey key;

    AutoRegion(
            AutoRegions regions,
            long id,
            long address,
            long length,
            int rights,
            OffHeapMemory memory,
            RegisteredRegion[] parts) {
        super(id, address, length, rights, memory);
        this.regions = regions;
        this.registered = memory != null ? memory : new PartMemory(address, length);
        this.parts = parts;
    }

    /** The region of this part; null: not registered there. */
    RegisteredRegion at(int part) {
        return parts[part];
    }

    /** It is registered with this part from now on; null: not any more. */
    void set(int part, RegisteredRegion region) {
        parts[part] = region;
    }

    OffHeapMemory registered() {
        return registered;
    }

    /** By what peers find it, once it is complete. */
    void key(SharedKey key) {
        this.key = key;
    }

    SharedKey key() {
        return key;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return regions.keyOf(this).describe(address() + offset, length, rights, descriptor);
    }

    @Override
    protected void closeOpen() {
        regions.close(this);
    }

    @Override
    public String user() {
        return "auto region " + id();
    }
}
