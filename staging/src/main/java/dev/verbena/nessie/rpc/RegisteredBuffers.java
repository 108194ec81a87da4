package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.transport.TransportException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.stream.Stream;

/**
 * Registered buffers for long arguments and results, kept for the next use by powers of two. One
 * thread.
 */
final class RegisteredBuffers implements AutoCloseable {
    private static final int SMALLEST_BITS = 12;
    private static final int KEPT_MAX = 8;
    private static final int KEPT_LENGTH_MAX = 8 << 20;

    final NntiTransport transport;
    private final int flags;
    private final List<ArrayDeque<NntiBuffer>> free =
            Stream.generate(ArrayDeque<NntiBuffer>::new).limit(Integer.SIZE).toList();
    int usedCount;

    RegisteredBuffers(NntiTransport transport, int flags) {
        this.transport = transport;
        this.flags = flags;
    }

    private static int sizeClass(int length) {
        return Math.max(SMALLEST_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(length - 1));
    }

    /** Of at least this length, up to 1 GiB; null: there is no memory. */
    NntiBuffer acquire(int length) {
        int bits = sizeClass(Math.max(1, length));
        NntiBuffer buffer = free.get(bits).poll();
        if (buffer == null) {
            try {
                buffer = transport.alloc(1 << bits, 1, flags);
            } catch (TransportException | NntiException e) {
                return null;
            }
        }
        usedCount++;
        return buffer;
    }

    /**
     * For the next use.
     *
     * @param isUnused false: it may still be used, so it is revoked, and freed when it is not
     */
    void release(NntiBuffer buffer, boolean isUnused) {
        usedCount--;
        ArrayDeque<NntiBuffer> equal = free.get(sizeClass((int) buffer.length()));
        if (isUnused && buffer.length() <= KEPT_LENGTH_MAX && equal.size() < KEPT_MAX) {
            equal.add(buffer);
        } else {
            transport.unregister(buffer);
        }
    }

    @Override
    public void close() {
        free.forEach(each -> each.forEach(transport::unregister));
    }
}
