package dev.verbena.portals.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.transport.core.TransportRegion;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A region of one {@link PortalsTransport}: toolkit memory or memory handed in. With remote rights
 * it has a match entry and descriptor that take puts and gets at any offset, and, to be notified, a
 * second entry with an event queue. For operations started here it has a descriptor bound at the
 * first.
 */
final class PortalsRegion extends TransportRegion {
    /** Set in the match bits of the entry that notifies. */
    static final long NOTIFY_BIT = 1;

    private final Registrations registrations;

    /** Toolkit memory, null for memory handed in. */
    final PortalsMemory own;

    /** Where peers find it, if it has rights. */
    final long matchBits;

    final int portalIndex;
    MatchEntry entry;
    MatchEntry notifyEntry;

    /** For operations started here; null before the first. */
    MemoryDescriptor local;

    /** Operations that could not bind it, one after the other. */
    private int bindTries;

    PortalsRegion(
            Registrations registrations,
            long id,
            long address,
            long length,
            int rights,
            PortalsMemory own,
            OffHeapMemory memory,
            long matchBits,
            int portalIndex) {
        super(id, address, length, rights, memory);
        this.registrations = registrations;
        this.own = own;
        this.matchBits = matchBits;
        this.portalIndex = portalIndex;
    }

    /** Peers reach it through this entry. */
    void exposed(MatchEntry entry) {
        this.entry = entry;
    }

    /** Puts that notify reach it through this entry. */
    void exposedToNotify(MatchEntry entry) {
        notifyEntry = entry;
    }

    /** Operations start from this descriptor. */
    void bound(MemoryDescriptor descriptor) {
        local = descriptor;
        bindTries = 0;
    }

    /** No descriptor could be bound; answers how often in a row. */
    int bindFailed() {
        bindTries++;
        return bindTries;
    }

    /** That no descriptor can be bound was told; what comes is counted anew. */
    void bindFailureTold() {
        bindTries = 0;
    }

    @Override
    protected RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        return descriptor.set(
                RemoteDescriptor.KIND_PORTALS,
                rights,
                (int) id(),
                offset,
                length,
                matchBits,
                portalIndex);
    }

    @Override
    protected void closeOpen() {
        registrations.close(this);
    }

    Registrations registrations() {
        return registrations;
    }

    /** Copies bytes of a range that was checked. */
    void copyTo(long offset, UnsafeBuffer to, int at, int length) {
        long from = range(offset, length);
        if (length == Long.BYTES) {
            to.putLong(at, UnsafeApi.getLong(null, from));
        } else {
            UnsafeApi.copyMemory(null, from, null, to.addressOffset() + at, length);
        }
    }

    @Override
    public String user() {
        return "Portals region " + id();
    }
}
