package dev.verbena.memory;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The windows that were given out over one piece of memory; all become empty at once. For
 * implementations of memory and regions. Thread-safe.
 */
public final class MemoryWindows {
    private final List<WeakReference<UnsafeBuffer>> windows = new ArrayList<>();
    private int purgeAt = 16;
    private boolean isClosed;

    /** For subclasses. */
    public MemoryWindows() {}

    /**
     * A window of memory.
     *
     * @param what named in exceptions
     * @param address of the memory
     * @param memoryLength of the memory, bytes
     * @throws IndexOutOfBoundsException naming the range
     * @throws IllegalStateException after {@link #close}
     */
    public synchronized UnsafeBuffer window(
            String what, long address, long memoryLength, long offset, int length) {
        if (isClosed) {
            throw new IllegalStateException("closed: " + what);
        }
        if (offset < 0 || length < 0 || offset > memoryLength - length) {
            throw new IndexOutOfBoundsException(
                    "offset %s length %s is outside %s of %s bytes"
                            .formatted(offset, length, what, memoryLength));
        }
        UnsafeBuffer window = new UnsafeBuffer(address + offset, length);
        if (windows.size() >= purgeAt) {
            windows.removeIf(reference -> reference.get() == null);
            purgeAt = Math.max(16, windows.size() * 2);
        }
        windows.add(new WeakReference<>(window));
        return window;
    }

    /** Empties every window and refuses new ones. Idempotent. */
    public synchronized void close() {
        isClosed = true;
        for (WeakReference<UnsafeBuffer> reference : windows) {
            UnsafeBuffer window = reference.get();
            if (window != null) {
                window.wrap(0L, 0);
            }
        }
        windows.clear();
    }
}
