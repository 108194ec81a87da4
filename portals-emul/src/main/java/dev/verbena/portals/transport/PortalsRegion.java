package dev.verbena.portals.transport;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.portals.MatchEntry;
import dev.verbena.portals.MemoryDescriptor;
import dev.verbena.portals.PortalsMemory;
import dev.verbena.transport.RemoteDescriptor;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A region of one {@link PortalsTransport}: toolkit memory or memory handed in. With remote rights
 * it has a match entry and descriptor that take puts and gets at any offset, and, to be notified, a
 * second entry with an event queue. For operations started here it has a descriptor bound at the
 * first.
 */
final class PortalsRegion implements RegisteredRegion {
    /** Set in the match bits of the entry that notifies. */
    static final long NOTIFY_BIT = 1;

    private final Registrations registrations;
    private final long id;
    private final long length;
    private final int rights;
    private final OffHeapMemory memory;
    private final MemoryWindows windows = new MemoryWindows();
    private final Leaks.Watch watch;
    private volatile boolean isClosed;
    private long address;

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

    /** Number of the last completion of an operation posted from here. */
    long lastCompletion;

    PortalsRegion(
            Registrations registrations,
            long id,
            long address,
            long length,
            int rights,
            PortalsMemory own,
            OffHeapMemory memory) {
        this.registrations = registrations;
        this.id = id;
        this.address = address;
        this.length = length;
        this.rights = rights;
        this.own = own;
        this.memory = memory;
        this.watch = Leaks.watch(this, toString());
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public int rights() {
        return rights;
    }

    @Override
    public long address() {
        checkOpen();
        return address;
    }

    @Override
    public UnsafeBuffer buffer(long offset, int length) {
        checkOpen();
        return windows.window(toString(), address, this.length, offset, length);
    }

    @Override
    public RemoteDescriptor describe(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        checkOpen();
        if ((offset | length) < 0 || offset > this.length - length) {
            throw new IllegalArgumentException(
                    "offset " + offset + " length " + length + " is outside " + this);
        }
        if ((rights & ~this.rights) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are not a part of the rights of " + this);
        }
        return descriptor.set(
                RemoteDescriptor.KIND_PORTALS,
                rights,
                (int) id,
                offset,
                length,
                matchBits,
                portalIndex);
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public void close() {
        if (!isClosed) {
            registrations.close(this);
        }
    }

    Registrations registrations() {
        return registrations;
    }

    /**
     * Refuses a range that is not inside.
     *
     * @throws IllegalArgumentException if the range is not inside
     * @throws IllegalStateException if the region is closed
     */
    void checkRange(long offset, long length) {
        if ((offset | length | (this.length - offset - length)) < 0 || address == 0) {
            throw badRange(offset, length);
        }
    }

    private RuntimeException badRange(long offset, long length) {
        if (address == 0) {
            return new IllegalStateException("closed: " + this);
        }
        return new IllegalArgumentException(
                "offset " + offset + " length " + length + " is outside " + this);
    }

    /** Copies bytes of a range that was checked. */
    void copyTo(long offset, UnsafeBuffer to, int at, int length) {
        if (length == Long.BYTES) {
            to.putLong(at, UnsafeApi.getLong(null, address + offset));
        } else {
            UnsafeApi.copyMemory(null, address + offset, null, to.addressOffset() + at, length);
        }
    }

    /** Empties windows and forgets the address; nothing reaches the memory any more. */
    void retire() {
        isClosed = true;
        address = 0;
        windows.close();
        watch.closed();
        if (memory != null) {
            memory.release(user());
        }
    }

    String user() {
        return "Portals region " + id;
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public String toString() {
        return "region " + id + " of " + length + " bytes, rights " + rights;
    }
}
