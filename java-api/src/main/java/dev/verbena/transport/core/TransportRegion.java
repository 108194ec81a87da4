package dev.verbena.transport.core;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.MemoryWindows;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayDeque;
import java.util.Deque;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What regions of every provider have in common: their range, windows into them, and what is left
 * when they are closed. A subclass knows the key under which peers reach it. Owned by its
 * transport's thread.
 */
public abstract class TransportRegion implements RegisteredRegion {
    private final long id;
    private final long length;
    private final int rights;

    /** Memory handed in; null: the toolkit's own. */
    private final OffHeapMemory memory;

    private final MemoryWindows windows = new MemoryWindows();
    private final Deque<AutoCloseable> views = new ArrayDeque<>(0);
    private final Leaks.Watch watch;
    private volatile boolean isClosed;
    private long address;
    private long lastCompletion;
    private int users;

    /**
     * An open region.
     *
     * @param memory handed in by the user; null: the toolkit's own
     */
    protected TransportRegion(
            long id, long address, long length, int rights, OffHeapMemory memory) {
        this.id = id;
        this.address = address;
        this.length = length;
        this.rights = rights;
        this.memory = memory;
        this.watch = Leaks.watch(this, toString());
    }

    /** Fills a descriptor; range and rights are checked already. */
    protected abstract RemoteDescriptor describeChecked(
            long offset, long length, int rights, RemoteDescriptor descriptor);

    /** Revokes the key, waits for peers, and then retires this. */
    protected abstract void closeOpen();

    /** Who holds memory that was handed in, for people. */
    public abstract String user();

    @Override
    public final long id() {
        return id;
    }

    @Override
    public final long length() {
        return length;
    }

    @Override
    public final int rights() {
        return rights;
    }

    @Override
    public final long address() {
        checkOpen();
        return address;
    }

    @Override
    public final UnsafeBuffer buffer(long offset, int length) {
        checkOpen();
        return windows.window(toString(), address, this.length, offset, length);
    }

    @Override
    public final RemoteDescriptor describe(
            long offset, long length, int rights, RemoteDescriptor descriptor) {
        checkOpen();
        if (!Ranges.isInside(offset, length, this.length)) {
            throw badRange(offset, length);
        }
        if ((rights & ~this.rights) != 0) {
            throw new IllegalArgumentException(
                    "rights " + rights + " are not a part of the rights of " + this);
        }
        return describeChecked(offset, length, rights, descriptor);
    }

    @Override
    public final boolean isClosed() {
        return isClosed;
    }

    @Override
    public final void closeFirst(AutoCloseable view) {
        checkOpen();
        views.push(view);
    }

    /**
     * Closes the views, the newest first.
     *
     * @throws IllegalStateException if one is in use; it stays
     */
    public final void closeViews() {
        for (AutoCloseable view = views.peek(); view != null; view = views.peek()) {
            try {
                view.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException("a view of " + this + " does not close", e);
            }
            views.pop();
        }
    }

    @Override
    public final void close() {
        if (!isClosed) {
            closeOpen();
        }
    }

    /** One more operation is posted from here. */
    public final void use() {
        users++;
    }

    /** One of those was polled. */
    public final void unuse() {
        users--;
    }

    /** How many operations posted from here were not polled yet. */
    public final int users() {
        return users;
    }

    /** Whether the transport made the memory, and frees it. */
    public final boolean isToolkitMemory() {
        return memory == null;
    }

    /**
     * Address of a range that an operation is about to use.
     *
     * @throws IllegalArgumentException if the range is not inside
     * @throws IllegalStateException if the region is closed
     */
    public final long range(long offset, long length) {
        if (!Ranges.isInside(offset, length, this.length) || address == 0) {
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

    /** An operation was posted from here whose completion has this number. */
    public final void onPosted(long completion) {
        lastCompletion = completion;
    }

    /** Number of the last completion of an operation posted from here; 0: none. */
    public final long lastCompletion() {
        return lastCompletion;
    }

    /**
     * Closes views, empties windows and forgets the address, which is answered; the key is revoked
     * already.
     */
    public final long retire() {
        closeViews();
        long retired = address;
        isClosed = true;
        address = 0;
        windows.close();
        watch.closed();
        return retired;
    }

    /** After {@link #retire}: memory handed in is its owner's again. */
    public final void releaseMemory() {
        if (memory != null) {
            memory.release(user());
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
