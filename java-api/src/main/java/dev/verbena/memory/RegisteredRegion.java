package dev.verbena.memory;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that a transport may read and write, and, with rights, its peers too. Offsets have 63
 * bits.
 *
 * <p>Made by {@code Transport.allocate} and {@code Transport.register}, closed by its owner before
 * the transport. Owned by the transport's thread, except the bytes themselves.
 */
public interface RegisteredRegion extends AutoCloseable {
    /** Identifies the region in {@code onNotify}; unique within the transport, never reused. */
    long id();

    /** Bytes. */
    long length();

    /** Rights granted to peers. */
    int rights();

    /**
     * Address of the first byte in this process.
     *
     * @throws IllegalStateException after close
     */
    long address();

    /**
     * A window of up to 2 GiB. After {@link #close()} every window has length 0, so that access is
     * an {@link IndexOutOfBoundsException}. Allocates: keep the window.
     *
     * @throws IndexOutOfBoundsException naming the range
     */
    UnsafeBuffer buffer(long offset, int length);

    /**
     * Fills a descriptor that lets its holder reach a part of this region.
     *
     * @param rights a subset of {@link #rights()}
     * @throws IllegalArgumentException for a range or right that the region does not have
     */
    RemoteDescriptor describe(long offset, long length, int rights, RemoteDescriptor descriptor);

    /** True after {@link #close()}. */
    boolean isClosed();

    /**
     * Has a view of these bytes that the region does not know of closed before the memory goes: by
     * {@link #close()}, on its thread, once nothing is outstanding. If the view's close throws, the
     * region's is refused with that, and the view is asked again by the next.
     *
     * @throws IllegalStateException after close
     * @throws UnsupportedOperationException if this kind of region cannot
     */
    default void closeFirst(AutoCloseable view) {
        throw new UnsupportedOperationException(this + " closes no views");
    }

    /**
     * Revokes remote access (descriptors become {@code STALE_KEY}), waits for accesses that peers
     * have begun, and frees or releases the memory. Idempotent.
     *
     * @throws IllegalStateException while an operation posted here is outstanding, or a view of
     *     {@link #closeFirst} is in use; nothing is freed then
     */
    @Override
    void close();
}
