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

    /** Where peers find it; 0 without rights. */
    long matchBits;

    int portalIndex;
    MatchEntry entry;
    MatchEntry notifyEntry;

    /** For operations started here; null before the first. */
    MemoryDescriptor local;

    /** Operations that could not bind it, one after the other. */
    int bindTries;

    PortalsRegion(
            Registrations registrations,
            long id,
            long address,
            long length,
            int rights,
            PortalsMemory own,
            OffHeapMemory memory) {
        super(id, address, length, rights, memory);
        this.registrations = registrations;
        this.own = own;
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
