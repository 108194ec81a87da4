package dev.verbena.ugni.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportRegion;

/**
 * A region of one {@link GniTransport}: memory that peers map, or memory handed in. It is
 * registered for operations started here, and, where peers may only read, a second time for them.
 */
final class GniRegion extends TransportRegion {
    private final Registrations registrations;

    /** Of memory that this process may only read: one registration for all, and no gets into it. */
    private boolean isReadOnly;

    /** For operations started here. */
    long localLow;

    long localHigh;

    /** What descriptors say; 0 without rights. */
    long remoteLow;

    long remoteHigh;

    GniRegion(
            Registrations registrations,
            long id,
            long address,
            long length,
            int rights,
            OffHeapMemory memory) {
        super(id, address, length, rights, memory);
        this.registrations = registrations;
    }

    /** Operations started here name it by this memory handle. */
    void onLocal(long low, long high, boolean isReadOnly) {
        localLow = low;
        localHigh = high;
        this.isReadOnly = isReadOnly;
    }

    /** Peers name it by this memory handle. */
    void onRemote(long low, long high) {
        remoteLow = low;
        remoteHigh = high;
    }

    boolean isReadOnly() {
        return isReadOnly;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_UGNI,
                rights,
                registrations.generation(),
                address() + offset,
                length,
                remoteLow,
                remoteHigh);
    }

    @Override
    protected void closeOpen() {
        registrations.close(this);
    }

    Registrations registrations() {
        return registrations;
    }

    @Override
    public String user() {
        return "uGNI region " + id();
    }
}
