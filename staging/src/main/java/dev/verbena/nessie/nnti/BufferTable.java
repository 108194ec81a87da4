package dev.verbena.nessie.nnti;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.CloseHelper;

/**
 * Makes buffers and takes them away. Memory that an own operation still uses is freed when that has
 * ended. Owned by the transport's thread.
 */
final class BufferTable {
    private static final long ELEMENTS_MAX = 1L << 30;

    private final Transport transport;
    private final Arrivals arrivals;
    private final Postings postings;
    private final long ownerId;
    private final List<NntiBuffer> closing = new ArrayList<>();
    private int nextId = 1;

    BufferTable(Transport transport, Arrivals arrivals, Postings postings, long ownerId) {
        this.transport = transport;
        this.arrivals = arrivals;
        this.postings = postings;
        this.ownerId = ownerId;
    }

    NntiBuffer alloc(int elementSize, int elementCount, int flags) {
        check(flags, elementSize, elementCount);
        long length = (long) elementSize * elementCount;
        RegisteredRegion region = transport.allocate(length, BufferFlags.rights(flags));
        return made(flags, elementSize, elementCount, region);
    }

    NntiBuffer registerSegments(List<? extends OffHeapMemory> segments, int flags) {
        check(flags, 1, 1);
        if (segments.isEmpty() || segments.size() > BufferHandle.SEGMENTS_MAX) {
            throw new NntiException(
                    NntiResult.EINVAL, segments.size() + " segments; possible are 1 to 64");
        }
        RegisteredRegion[] regions = new RegisteredRegion[segments.size()];
        try {
            Arrays.setAll(
                    regions, i -> transport.register(segments.get(i), BufferFlags.rights(flags)));
        } catch (RuntimeException e) {
            CloseHelper.quietCloseAll(regions); // those before the one that is refused
            throw e;
        }
        return made(flags, 1, 1, regions);
    }

    NntiBuffer wrap(RegisteredRegion region) {
        return made(BufferFlags.ofRights(region.rights()), 1, 1, region);
    }

    private void check(int flags, int elementSize, int elementCount) {
        boolean isQueue = (flags & BufferFlags.RECV_QUEUE) != 0;
        if (flags == 0 || (flags & ~BufferFlags.ALL) != 0 || isQueue && flags != (flags & -flags)) {
            throw new NntiException(NntiResult.EINVAL, "flags 0x" + Integer.toHexString(flags));
        }
        long length = (long) elementSize * elementCount;
        if (elementSize < 1 || elementCount < 1 || length > ELEMENTS_MAX) {
            throw new NntiException(
                    NntiResult.EINVAL, elementCount + " elements of " + elementSize + " bytes");
        }
        if (isQueue && arrivals.queue != null) {
            throw new NntiException(NntiResult.EEXIST, "there is a receive queue already");
        }
    }

    private NntiBuffer made(int flags, int size, int count, RegisteredRegion... regions) {
        NntiBuffer buffer = new NntiBuffer(nextId++, flags, size, count, regions, ownerId);
        arrivals.add(buffer);
        return buffer;
    }

    void unregister(NntiBuffer buffer) {
        if (!buffer.isOpen()) {
            return;
        }
        buffer.close();
        arrivals.remove(buffer);
        buffer.operations.forEach(postings::cancel);
        closing.add(buffer);
        closePending();
    }

    void unregisterAll() {
        new ArrayList<>(arrivals.all()).forEach(this::unregister);
        closePending();
    }

    /** Frees what an own operation does not use any more. */
    void closePending() {
        if (!closing.isEmpty()) {
            closing.removeIf(NntiBuffer::free);
        }
    }
}
