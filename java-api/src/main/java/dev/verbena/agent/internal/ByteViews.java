package dev.verbena.agent.internal;

import dev.verbena.softnic.NativeViews;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Byte buffers over the memory of Agrona buffers, for JDK methods that take nothing else: channels
 * and checksums. Remembers them by address. A view is for use within one call, while the Agrona
 * buffer, which was just checked, covers the same memory; never keep or hand out one. One thread.
 */
public final class ByteViews {
    private static final int COUNT_MAX = 1024;

    private final Long2ObjectHashMap<ByteBuffer> views = new Long2ObjectHashMap<>();

    /**
     * A view from offset to offset + length; allocates the first time for an address.
     *
     * @return null for a buffer that lies in the Java heap or is empty
     */
    public ByteBuffer view(DirectBuffer buffer, int offset, int length) {
        int capacity = buffer.capacity();
        if (buffer.byteArray() != null || capacity == 0) {
            return null;
        }
        long address = buffer.addressOffset();
        ByteBuffer view = views.get(address);
        if (view == null || view.capacity() != capacity) {
            if (views.size() >= COUNT_MAX) {
                views.clear();
            }
            view = NativeViews.of(address, capacity);
            views.put(address, view);
        }
        return view.limit(offset + length).position(offset);
    }
}
