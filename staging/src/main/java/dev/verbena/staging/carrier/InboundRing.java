package dev.verbena.staging.carrier;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that the peer writes into: numbered pieces, which may be notified in another order. Trusts
 * nothing of what it is notified of. Owned by the transport's thread.
 */
final class InboundRing implements AutoCloseable {
    /** Pieces that may be notified before one that comes first. */
    private static final int PIECES_MAX = 256;

    private final RegisteredRegion region;
    private final UnsafeBuffer bytes;
    private final int capacity;
    private final int[] lengths = new int[PIECES_MAX];
    private final long[] offsets = new long[PIECES_MAX];

    /** Number of the piece that continues what has arrived. */
    private int next;

    // Positions since the stream began: they only grow.
    private long arrived;
    private long read;
    private long reported;

    /**
     * Makes and registers it.
     *
     * @param capacity bytes, a power of two
     */
    InboundRing(Transport transport, int capacity) {
        this.capacity = capacity;
        this.region = transport.allocate(capacity, RemoteDescriptor.REMOTE_WRITE);
        this.bytes = region.buffer(0, capacity);
    }

    int capacity() {
        return capacity;
    }

    RemoteDescriptor describe() {
        return region.describe(0, capacity, RemoteDescriptor.REMOTE_WRITE, new RemoteDescriptor());
    }

    /** A piece has arrived; false: it cannot be one of this stream. */
    boolean onPiece(int number, long regionId, long offset, long length) {
        int ahead = number - next;
        int slot = number & (PIECES_MAX - 1);
        boolean isPossible =
                regionId == region.id()
                        && ahead >= 0
                        && ahead < PIECES_MAX
                        && lengths[slot] == 0
                        && length > 0
                        && length <= capacity;
        if (!isPossible) {
            return false;
        }
        lengths[slot] = (int) length;
        offsets[slot] = offset;
        return advance();
    }

    private boolean advance() {
        for (int slot = slot(); lengths[slot] > 0; slot = slot()) {
            int length = lengths[slot];
            long at = arrived & (capacity - 1);
            if (offsets[slot] != at || at + length > capacity || unread() + length > capacity) {
                return false;
            }
            lengths[slot] = 0;
            arrived += length;
            next++;
        }
        return true;
    }

    private int slot() {
        return next & (PIECES_MAX - 1);
    }

    /** Bytes that can be read now. */
    int unread() {
        return (int) (arrived - read);
    }

    /** Copies what there is, up to the ring's end; the bytes taken. */
    int read(MutableDirectBuffer buffer, int offset, int length) {
        int at = (int) (read & (capacity - 1));
        int taken = Math.min(Math.min(length, unread()), capacity - at);
        buffer.putBytes(offset, bytes, at, taken);
        read += taken;
        return taken;
    }

    /** Whether the peer should hear how much was read, for it may have no room. */
    boolean isReportDue() {
        return read - reported >= capacity / 4;
    }

    /** Bytes read since the stream began. */
    long position() {
        return read;
    }

    /** The peer will hear of {@link #position}. */
    void reported() {
        reported = read;
    }

    @Override
    public void close() {
        region.close();
    }
}
