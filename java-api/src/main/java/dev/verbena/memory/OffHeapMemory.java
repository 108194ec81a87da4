package dev.verbena.memory;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Off-heap memory with 63-bit offsets, not yet registered: plain, huge pages, a file mapping, or
 * memory handed in. Users that must not lose it (registrations, operations in flight) {@link
 * #acquire} it; closing acquired memory throws.
 */
public interface OffHeapMemory extends AutoCloseable {
    /** Bytes. */
    long length();

    /**
     * Address of the first byte.
     *
     * @throws IllegalStateException after close
     */
    long address();

    /** A window of up to 2 GiB, of length 0 after close. Allocates: keep the window. */
    UnsafeBuffer buffer(long offset, int length);

    /**
     * Counts one more user. The name appears in the message when somebody closes too early.
     * Thread-safe.
     */
    void acquire(String user);

    /** Counts one user less. Thread-safe. */
    void release(String user);

    /** True after {@link #close()}. */
    boolean isClosed();

    /**
     * Frees. Idempotent.
     *
     * @throws IllegalStateException naming the users while there are any; nothing is freed then
     */
    @Override
    void close();
}
