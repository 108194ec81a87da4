package dev.verbena.ofi.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportRegion;
import org.agrona.collections.IntHashSet;

/** A region of one {@link OfiTransport}. */
final class OfiRegion extends TransportRegion {
    final Regions regions;

    /** By which peers ask for it. */
    final long key;

    /** Connections that were told the provider's key, and whose peers may use it still. */
    final IntHashSet users = new IntHashSet();

    /** This process itself may only read it: no gets into it. */
    final boolean isReadOnly;

    private final long begin;

    /** Object of the provider; 0: none. */
    long registration;

    /** For operations started here; 0: not needed. */
    long descriptor;

    /** Operations that have ended for the user and that the provider may still go on with. */
    private int abandoned;

    OfiRegion(
            Regions regions,
            long id,
            long key,
            long address,
            long length,
            int rights,
            OffHeapMemory memory,
            boolean isReadOnly) {
        super(id, address, length, rights, memory);
        this.regions = regions;
        this.key = key;
        this.begin = address;
        this.isReadOnly = isReadOnly;
    }

    /** Address of the first byte, also after close. */
    long begin() {
        return begin;
    }

    void registered(long registration, long descriptor) {
        this.registration = registration;
        this.descriptor = descriptor;
    }

    void abandon() {
        abandoned++;
    }

    void abandonedEnded() {
        abandoned--;
        if (abandoned == 0 && isClosed()) {
            regions.settle();
        }
    }

    /** Whether the provider may still access the memory for a peer. */
    boolean isReachable() {
        return !users.isEmpty() || abandoned > 0;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_OFI,
                rights,
                (int) regions.incarnation(),
                begin + offset,
                length,
                key,
                regions.incarnation());
    }

    @Override
    protected void closeOpen() {
        regions.close(this);
    }

    @Override
    public String user() {
        return "ofi region " + id();
    }
}
