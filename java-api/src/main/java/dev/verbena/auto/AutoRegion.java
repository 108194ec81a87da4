package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportRegion;
import java.util.ArrayList;
import java.util.List;

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

    /** A closed region of a part: something may still arrive there. */
    record Left(int part, RegisteredRegion region) {}

    private final List<Left> left = new ArrayList<>(0);

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

    /** It is registered with this part from now on. */
    void set(int part, RegisteredRegion region) {
        parts[part] = region;
    }

    /** It is not registered with this part any more; its region there is closed. */
    void leave(int part) {
        left.add(new Left(part, parts[part]));
        parts[part] = null;
        key = null;
    }

    /** What it was registered with; more than one of a part if a close has failed between. */
    List<Left> left() {
        return left;
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
