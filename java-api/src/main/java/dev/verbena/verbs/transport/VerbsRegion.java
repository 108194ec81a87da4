package dev.verbena.verbs.transport;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.verbs.MemoryRegion;
import org.agrona.concurrent.UnsafeBuffer;

/** A region of one {@link VerbsTransport}: registered memory, its own or handed in. */
final class VerbsRegion implements RegisteredRegion {
    final MemoryRegion registered;
    private final VerbsTransport transport;
    private final long id;
    private final long length;
    private final int rights;
    private final OffHeapMemory memory;
    private final boolean isOwnMemory;
    private final MemoryWindows windows = new MemoryWindows();
    private final Leaks.Watch watch;
    private volatile boolean isClosed;

    /** Operations posted from here that were not polled yet. */
    int users;

    /** Its owner has closed it, and was refused because of its users. */
    volatile boolean isCloseWanted;

    VerbsRegion(
            VerbsTransport transport,
            long id,
            OffHeapMemory memory,
            boolean isOwnMemory,
            MemoryRegion registered,
            int rights) {
        this.transport = transport;
        this.id = id;
        this.memory = memory;
        this.isOwnMemory = isOwnMemory;
        this.registered = registered;
        this.length = memory.length();
        this.rights = rights;
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
        return memory.address();
    }

    @Override
    public UnsafeBuffer buffer(long offset, int length) {
        checkOpen();
        return windows.window(toString(), memory.address(), this.length, offset, length);
    }

    @Override
    public RemoteDescriptor describe(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        checkOpen();
        checkRange(offset, length);
        if ((rights & ~this.rights) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are not a part of the rights of " + this);
        }
        return descriptor.set(
                RemoteDescriptor.KIND_VERBS,
                rights,
                (int) id,
                registered.remoteAddress(0) + offset,
                length,
                Integer.toUnsignedLong(registered.remoteKey()),
                transport.incarnation());
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public void close() {
        if (!isClosed) {
            transport.closeRegion(this);
        }
    }

    VerbsTransport transport() {
        return transport;
    }

    /**
     * Checks a range that an operation is about to use.
     *
     * @throws IllegalArgumentException if the range is not inside
     * @throws IllegalStateException if the region is closed
     */
    void check(long offset, long length) {
        if (isClosed) {
            throw new IllegalStateException("closed: " + this);
        }
        checkRange(offset, length);
    }

    private void checkRange(long offset, long length) {
        if ((offset | length) < 0 || offset > this.length - length) {
            throw new IllegalArgumentException(
                    "offset " + offset + " length " + length + " is outside " + this);
        }
    }

    /** Address of the first byte as requests name it. */
    long base() {
        return registered.remoteAddress(0);
    }

    int key() {
        return registered.remoteKey();
    }

    /** Revokes, empties the windows, and gives the memory back. */
    void retire() {
        registered.close();
        isClosed = true;
        windows.close();
        watch.closed();
        if (isOwnMemory) {
            memory.close();
        }
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
