package dev.verbena.dart.client;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportException;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Registered memory into which a client copies what it does not send by reference. As many buffers
 * as messages may be in flight; each grows to what was needed. Owned by the client's thread.
 */
final class CopyBuffers {
    /** One buffer. */
    static final class CopyBuffer {
        RegisteredRegion region;
        UnsafeBuffer window = new UnsafeBuffer(new byte[0]);
        private final CopyBuffers owner;
        private boolean isInUse;

        CopyBuffer(CopyBuffers owner) {
            this.owner = owner;
        }

        /** Its message has been read. */
        void free() {
            isInUse = false;
        }

        /** Its message was given up; the server, which may come to it later, must not read it. */
        void revoke() {
            if (region != null) {
                owner.revoke(region);
            }
            region = null;
            window = new UnsafeBuffer(new byte[0]);
            free();
        }
    }

    private static final int LENGTH_MIN = 4096;

    private final Transport transport;
    private final int countMax;
    private final List<CopyBuffer> buffers = new ArrayList<>();

    /** What a server was reading when it was to be closed. */
    private final List<RegisteredRegion> revoked = new ArrayList<>();

    CopyBuffers(Transport transport, int countMax) {
        this.transport = transport;
        this.countMax = countMax;
    }

    /** A buffer with a copy of these bytes, marked as in use. */
    CopyBuffer copy(DirectBuffer source, int offset, int length) {
        CopyBuffer chosen = null;
        for (int i = 0; i < buffers.size(); i++) {
            CopyBuffer buffer = buffers.get(i);
            if (!buffer.isInUse && (chosen == null || chosen.window.capacity() < length)) {
                chosen = buffer;
            }
        }
        boolean isTooSmall =
                chosen == null || chosen.region == null || chosen.window.capacity() < length;
        if (isTooSmall && buffers.size() < countMax) {
            chosen = new CopyBuffer(this);
            grow(chosen, length);
            buffers.add(chosen);
        } else if (isTooSmall) {
            if (chosen == null) {
                throw new IllegalStateException("every copy buffer is in use");
            }
            grow(chosen, length);
        }
        chosen.window.putBytes(0, source, offset, length);
        chosen.isInUse = true;
        return chosen;
    }

    private void grow(CopyBuffer buffer, int length) {
        long capacity = Math.max(LENGTH_MIN, Long.highestOneBit(Math.max(1, length - 1L)) << 1);
        capacity = Math.min(capacity, Integer.MAX_VALUE - 4095L);
        RegisteredRegion region = transport.allocate(capacity, RemoteDescriptor.REMOTE_READ);
        if (buffer.region != null) {
            buffer.region.close();
        }
        buffer.region = region;
        buffer.window = region.buffer(0, (int) capacity);
    }

    private void revoke(RegisteredRegion region) {
        try {
            region.close();
        } catch (TransportException e) {
            revoked.add(region);
        }
    }

    void close() {
        buffers.forEach(buffer -> revoked.add(buffer.region));
        buffers.clear();
        CloseHelper.closeAll(revoked);
        revoked.clear();
    }
}
