package dev.verbena.shm;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportRegion;

/** A region of one {@link ShmTransport}: toolkit memory or memory handed in. */
final class ShmRegion extends TransportRegion {
    private final ShmTransport transport;

    /** softnic's key; meaningless without rights. */
    private int keySlot;

    private int keyGeneration;
    private long keySecret;

    ShmRegion(
            ShmTransport transport,
            long id,
            long address,
            long length,
            int rights,
            OffHeapMemory memory) {
        super(id, address, length, rights, memory);
        this.transport = transport;
    }

    /** softnic knows it by this key. */
    void onKey(int slot, int generation, long secret) {
        keySlot = slot;
        keyGeneration = generation;
        keySecret = secret;
    }

    int keySlot() {
        return keySlot;
    }

    int keyGeneration() {
        return keyGeneration;
    }

    long keySecret() {
        return keySecret;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_SHM,
                rights,
                keyGeneration,
                offset,
                length,
                Integer.toUnsignedLong(keySlot),
                keySecret);
    }

    @Override
    protected void closeOpen() {
        transport.regions().close(this);
    }

    ShmTransport transport() {
        return transport;
    }

    @Override
    public String user() {
        return "region " + id() + " of " + transport;
    }
}
