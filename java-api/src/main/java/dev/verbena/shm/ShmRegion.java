package dev.verbena.shm;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.internal.TransportRegion;

/** A region of one {@link ShmTransport}: toolkit memory or memory handed in. */
final class ShmRegion extends TransportRegion {
    private final ShmTransport transport;

    /** softnic's key; meaningless without rights. */
    final int keySlot;

    final int keyGeneration;
    final long keySecret;

    /** Number of the last completion of an operation posted from here. */
    long lastCompletion;

    ShmRegion(
            ShmTransport transport,
            long id,
            long address,
            long length,
            int rights,
            OffHeapMemory memory,
            int keySlot,
            int keyGeneration,
            long keySecret) {
        super(id, address, length, rights, memory);
        this.transport = transport;
        this.keySlot = keySlot;
        this.keyGeneration = keyGeneration;
        this.keySecret = keySecret;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        long shown =
                PlantedFaults.ENABLED && PlantedFaults.isOn("shm-descriptor-length-int")
                        ? length & Integer.MAX_VALUE
                        : length;
        return descriptor.set(
                RemoteDescriptor.KIND_SHM,
                rights,
                keyGeneration,
                offset,
                shown,
                Integer.toUnsignedLong(keySlot),
                keySecret);
    }

    @Override
    protected void closeOpen() {
        transport.closeRegion(this);
    }

    ShmTransport transport() {
        return transport;
    }

    @Override
    public String user() {
        return "region " + id() + " of " + transport;
    }
}
