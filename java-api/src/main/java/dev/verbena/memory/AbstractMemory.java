package dev.verbena.memory;

import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Users, windows and closing of every kind of memory; a kind says how it is freed. For
 * implementations of memory. Thread-safe.
 */
public abstract class AbstractMemory implements OffHeapMemory {
    private final String what;
    private final long length;
    private final MemoryWindows windows = new MemoryWindows();
    private final List<String> users = new ArrayList<>();
    private final Leaks.Watch watch;
    private long address;

    /**
     * Open memory.
     *
     * @param kind what it is, for messages
     * @param address of the first byte, which is there until {@link #free}
     */
    protected AbstractMemory(String kind, long address, long length) {
        this.what = kind + " memory";
        this.address = address;
        this.length = length;
        this.watch = Leaks.watch(this, what + " of " + length + " bytes");
    }

    /** Gives the memory back. Called once. */
    protected abstract void free(long address, long length);

    /** Called first when this is closed; an exception leaves it open and whole. */
    void beforeClose() {}

    /** Why the memory is not there any more although this is open; null: it is there. */
    String lost() {
        return null;
    }

    @Override
    public final long length() {
        return length;
    }

    @Override
    public final synchronized long address() {
        checkOpen();
        return address;
    }

    @Override
    public final synchronized UnsafeBuffer buffer(long offset, int length) {
        checkThere();
        return windows.window(what, address, this.length, offset, length);
    }

    @Override
    public final synchronized void acquire(String user) {
        checkThere();
        users.add(user);
    }

    @Override
    public final synchronized void release(String user) {
        if (!users.remove(user)) {
            throw new IllegalStateException(
                    what + ": '" + user + "' is not a user; there are " + users);
        }
    }

    @Override
    public final synchronized boolean isClosed() {
        return address == 0;
    }

    @Override
    public final synchronized void close() {
        if (address == 0) {
            return;
        }
        if (!users.isEmpty()) {
            throw new IllegalStateException(
                    what + " of " + length + " bytes is in use by " + users + "; close them first");
        }
        beforeClose();
        windows.close();
        long freed = address;
        address = 0;
        free(freed, length);
        watch.closed();
    }

    private void checkOpen() {
        if (address == 0) {
            throw new IllegalStateException("closed: " + what + " of " + length + " bytes");
        }
    }

    private void checkThere() {
        checkOpen();
        String lost = lost();
        if (lost != null) {
            throw new IllegalStateException(what + " of " + length + " bytes: " + lost);
        }
    }

    @Override
    public String toString() {
        return what + " of " + length + " bytes" + (isClosed() ? ", closed" : "");
    }
}
