package dev.verbena.verbs.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.TransportRegion;
import dev.verbena.verbs.MemoryRegion;

/** A region of one {@link VerbsTransport}: registered memory, its own or handed in. */
final class VerbsRegion extends TransportRegion {
    final MemoryRegion registered;
    private final VerbsTransport transport;

    /** Its own, which it frees; null: handed in, and held by what is registered. */
    private final OffHeapMemory own;

    /** Memory that this process itself may only read: the NIC must not write into it. */
    final boolean isReadOnly;

    /** Its owner has closed it, and was refused because of its users. */
    private volatile boolean isCloseRefused;

    VerbsRegion(
            VerbsTransport transport,
            long id,
            OffHeapMemory memory,
            boolean isOwnMemory,
            MemoryRegion registered,
            boolean isReadOnly,
            int rights) {
        super(id, memory.address(), memory.length(), rights, null);
        this.transport = transport;
        this.own = isOwnMemory ? memory : null;
        this.registered = registered;
        this.isReadOnly = isReadOnly;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_VERBS,
                rights,
                (int) id(),
                base() + offset,
                length,
                Integer.toUnsignedLong(registered.remoteKey()),
                transport.incarnation());
    }

    @Override
    protected void closeOpen() {
        transport.closeRegion(this);
    }

    @Override
    public String user() {
        return "region " + id() + " of " + transport;
    }

    VerbsTransport transport() {
        return transport;
    }

    /** Its owner wanted to close it, and was refused because of its users. */
    void closeRefused() {
        isCloseRefused = true;
    }

    boolean isCloseRefused() {
        return isCloseRefused;
    }

    /** Address of the first byte as requests name it. */
    long base() {
        return registered.remoteAddress(0);
    }

    int key() {
        return registered.remoteKey();
    }

    /**
     * Revokes, empties the windows, and gives the memory back.
     *
     * @throws IllegalStateException if a view is in use; nothing is revoked then
     */
    void revoke() {
        closeViews();
        registered.close();
        retire();
        if (own != null) {
            own.close();
        }
    }
}
