package dev.verbena.staging.carrier;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The peer's ring, seen from the side that writes. Long writes out of a {@link SourceMemory} are
 * put from there, and count as written when their puts have completed; what is short, or lies
 * elsewhere, is copied and put from the copy. Allocates nothing after it was made. Owned by the
 * transport's thread.
 */
final class OutboundRing implements AutoCloseable {
    /** Puts under way. */
    private static final int PIECES_MAX = 32;

    /** One put: several are under way for a long write. */
    private static final int PIECE_LENGTH = 256 * 1024;

    /** Shorter writes are copied: that costs less than a put of their own. */
    private static final int DIRECT_LENGTH = 8 * 1024;

    private static final int COPIES_LENGTH = 128 * 1024;

    private final Transport transport;
    private final long connection;
    private final SourceMemory sources;
    private final RemoteDescriptor target;
    private final int capacity;
    private final RegisteredRegion copies;
    private final UnsafeBuffer copiesBytes;
    private final int[] lengths = new int[PIECES_MAX];
    private final boolean[] isDirect = new boolean[PIECES_MAX];
    private final boolean[] isDone = new boolean[PIECES_MAX];

    // Numbers of pieces: the oldest whose put has not completed, the next one.
    private long oldest;
    private long next;

    // Positions since the stream began: they only grow.
    private long written;
    private long read;
    private long copied;
    private long freed;

    /** Of the direct write: where its first byte is that does not count as written yet. */
    private long directAt;

    private int directPosted;
    private int directDone;

    OutboundRing(
            Transport transport,
            long connection,
            SourceMemory sources,
            RemoteDescriptor target,
            int capacity) {
        this.transport = transport;
        this.connection = connection;
        this.sources = sources;
        this.target = target;
        this.capacity = capacity;
        this.copies = transport.allocate(COPIES_LENGTH, 0);
        this.copiesBytes = copies.buffer(0, COPIES_LENGTH);
    }

    /** The peer has read so much; false: it cannot have. */
    boolean onRead(long position) {
        boolean isPossible = position >= read && position <= written;
        read = isPossible ? position : read;
        return isPossible;
    }

    /** A put has completed. */
    void onCompletion(long number) {
        isDone[slot(number)] = true;
        for (; oldest < next && isDone[slot(oldest)]; oldest++) {
            int slot = slot(oldest);
            if (isDirect[slot]) {
                directDone += lengths[slot];
            } else {
                freed += lengths[slot];
            }
        }
    }

    /** Whether no put is under way. */
    boolean isQuiet() {
        return oldest == next;
    }

    /** Begins to write, or goes on; bytes that count as written, -1: the connection is gone. */
    int write(DirectBuffer buffer, int offset, int length) {
        boolean isLong = length >= DIRECT_LENGTH || directPosted > 0;
        RegisteredRegion source = isLong ? sources.find(buffer, offset, length) : null;
        long at = source == null ? -1 : buffer.addressOffset() + offset - source.address();
        if (directPosted > 0 && at != directAt) {
            throw new IllegalStateException("other bytes than those that are being written");
        }
        return source == null ? copy(buffer, offset, length) : direct(source, at, length);
    }

    /** Header and payload in one piece, where both are short. */
    boolean isOnePiece(int firstLength, int secondLength) {
        int both = firstLength + secondLength;
        return both < DIRECT_LENGTH && both <= roomInPiece() && both <= copyRoom();
    }

    /** As {@link #write}, after {@link #isOnePiece}. */
    int writeBoth(
            DirectBuffer first,
            int firstOffset,
            int firstLength,
            DirectBuffer second,
            int secondOffset,
            int secondLength) {
        int at = copyAt();
        copiesBytes.putBytes(at, first, firstOffset, firstLength);
        copiesBytes.putBytes(at + firstLength, second, secondOffset, secondLength);
        return putCopy(at, firstLength + secondLength);
    }

    private int copy(DirectBuffer buffer, int offset, int length) {
        int n = Math.min(Math.min(length, roomInPiece()), copyRoom());
        if (n == 0) {
            return 0;
        }
        int at = copyAt();
        copiesBytes.putBytes(at, buffer, offset, n);
        return putCopy(at, n);
    }

    private int putCopy(int at, int length) {
        int answer = put(copies, at, length, false);
        if (answer == Transport.ACCEPTED) {
            copied += length;
            return length;
        }
        return answer == Transport.BACK_PRESSURED ? 0 : -1;
    }

    private int copyAt() {
        return (int) (copied & (COPIES_LENGTH - 1));
    }

    private int copyRoom() {
        return (int) Math.min(COPIES_LENGTH - (copied - freed), COPIES_LENGTH - copyAt());
    }

    /** Bytes that the next piece can have. */
    private int roomInPiece() {
        if (next - oldest == PIECES_MAX) {
            return 0;
        }
        int toEnd = capacity - (int) (written & (capacity - 1));
        return (int) Math.min(Math.min(PIECE_LENGTH, toEnd), capacity - (written - read));
    }

    private int direct(RegisteredRegion source, long at, int length) {
        directAt = at;
        int answer = Transport.ACCEPTED;
        while (directPosted < length && answer == Transport.ACCEPTED) {
            int n = Math.min(length - directPosted, roomInPiece());
            if (n == 0) {
                break;
            }
            answer = put(source, at + directPosted, n, true);
            directPosted += answer == Transport.ACCEPTED ? n : 0;
        }
        return answer == Transport.ACCEPTED || answer == Transport.BACK_PRESSURED ? 0 : -1;
    }

    /** Bytes of the direct write that count as written since this was asked last. */
    int takeDirect() {
        int taken = directDone;
        directDone = 0;
        directPosted -= taken;
        directAt += taken;
        return taken;
    }

    private int put(RegisteredRegion source, long offset, int length, boolean isFromSource) {
        int answer =
                transport.putNotify(
                        connection,
                        source,
                        offset,
                        target,
                        written & (capacity - 1),
                        length,
                        (int) next,
                        next,
                        0);
        if (answer == Transport.ACCEPTED) {
            int slot = slot(next);
            lengths[slot] = length;
            isDirect[slot] = isFromSource;
            isDone[slot] = false;
            written += length;
            next++;
        }
        return answer;
    }

    private static int slot(long number) {
        return (int) number & (PIECES_MAX - 1);
    }

    /** Gives the memory back; nothing may be under way. */
    @Override
    public void close() {
        copies.close();
    }
}
