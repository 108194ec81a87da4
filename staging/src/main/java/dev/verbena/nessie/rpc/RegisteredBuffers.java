package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.transport.TransportException;
import java.util.ArrayDeque;

/**
 * Registered buffers for long arguments and results, kept for the next use by powers of two. One
 * thread.
 */
final class RegisteredBuffers implements AutoCloseable {
    private static final int SMALLEST_BITS = 12;
    private static final int KEPT_MAX = 8;
    private static final int KEPT_LENGTH_MAX = 8 << 20;

    private final NntiTransport transport;
    private final int flags;
    private final ArrayDeque<NntiBuffer>[] free;
    int usedCount;

    @SuppressWarnings({"unchecked", "rawtypes"})
    RegisteredBuffers(NntiTransport transport, int flags) {
        this.transport = transport;
        this.flags = flags;
        this.free = new ArrayDeque[Integer.SIZE];
        for (int i = 0; i < free.length; i++) {
            free[i] = new ArrayDeque<>();
        }
    }

    private static int sizeClass(int length) {
        return Math.max(SMALLEST_BITS, Integer.SIZE - Integer.numberOfLeadingZeros(length - 1));
    }

    /** Of at least this length, up to 1 GiB; null: there is no memory. */
    NntiBuffer acquire(int length) {
        int bits = sizeClass(Math.max(1, length));
        NntiBuffer buffer = free[bits].poll();
        if (buffer == null) {
            try {
                buffer = transport.alloc(1 << bits, 1, flags);
            } catch (TransportException e) {
                return null;
            }
        }
        usedCount++;
        return buffer;
    }

    /**
     * For the next use.
     *
     * @param isUnused false: a peer may still try to use it, so it is revoked
     */
    void release(NntiBuffer buffer, boolean isUnused) {
        int bits = sizeClass((int) buffer.length());
        usedCount--;
        boolean isKept = buffer.length() <= KEPT_LENGTH_MAX && free[bits].size() < KEPT_MAX;
        if (isKept && isUnused) {
            free[bits].add(buffer);
        } else {
            transport.unregister(buffer);
        }
    }

    @Override
    public void close() {
        for (ArrayDeque<NntiBuffer> each : free) {
            NntiBuffer buffer;
            while ((buffer = each.poll()) != null) {
                transport.unregister(buffer);
            }
        }
    }
}
