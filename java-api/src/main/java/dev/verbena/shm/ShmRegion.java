package dev.verbena.shm;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.memory.Leaks;
import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import org.agrona.concurrent.UnsafeBuffer;

/** A region of one {@link ShmTransport}: toolkit memory or memory handed in. */
final class ShmRegion implements RegisteredRegion {
    private final ShmTransport transport;
    private final long id;
    private final long length;
    private final int rights;
    private final OffHeapMemory memory;
    private final MemoryWindows windows = new MemoryWindows();
    private final Leaks.Watch watch;
    private volatile boolean isClosed;
    private long address;

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
        this.transport = transport;
        this.id = id;
        this.address = address;
        this.length = length;
        this.rights = rights;
        this.memory = memory;
        this.keySlot = keySlot;
        this.keyGeneration = keyGeneration;
        this.keySecret = keySecret;
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
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public void close() {
        if (!isClosed) {
            transport.closeRegion(this);
        }
    }

    boolean isToolkitMemory() {
        return memory == null;
    }

    ShmTransport transport() {
        return transport;
    }

    /**
     * Address of a range that an operation is about to use.
     *
     * @throws IllegalArgumentException if the range is not inside
     * @throws IllegalStateException if the region is closed
     */
    long range(long offset, long length) {
        if ((offset | length | (this.length - offset - length)) < 0 || address == 0) {
            throw badRange(offset, length);
        }
        return address + offset;
    }

    private RuntimeException badRange(long offset, long length) {
        if (address == 0) {
            return new IllegalStateException("closed: " + this);
        }
        return new IllegalArgumentException(
                "offset " + offset + " length " + length + " is outside " + this);
    }

    /** Empties windows and forgets the address, which is answered; the key is revoked already. */
    long retire() {
        long retired = address;
        isClosed = true;
        address = 0;
        windows.close();
        watch.closed();
        return retired;
    }

    /** After {@link #retire}: memory handed in is its owner's again. */
    void releaseMemory() {
        if (memory != null) {
            memory.release(user());
        }
    }

    String user() {
        return "region " + id + " of " + transport;
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
