package dev.verbena.nessie.nnti;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Names a buffer of another process. It can travel by any channel; its holder connects to the owner
 * and uses it there.
 *
 * <pre>
 * offset size field, big-endian
 *  0     4    {@link #TRANSPORT}: made by a transport of the contract
 *  4     4    flags of the buffer
 *  8     8    id of the process that owns it
 * 16     4    id of the buffer there
 * 20     4    segments, 1 to {@link #SEGMENTS_MAX}
 * 24    48    of each segment: its remote descriptor
 * </pre>
 */
public final class BufferHandle {
    /** Most segments of a buffer. */
    public static final int SEGMENTS_MAX = 64;

    /** Encoded length of a handle with one segment, bytes. */
    public static final int LENGTH_OF_ONE = 24 + RemoteDescriptor.LENGTH;

    /** Transport id in a handle; 0 would be the null transport. */
    static final int TRANSPORT = 0x56425431;

    private static final int FLAGS_OFFSET = 4;
    private static final int OWNER_OFFSET = 8;
    private static final int BUFFER_OFFSET = 16;
    private static final int COUNT_OFFSET = 20;
    private static final int SEGMENTS_OFFSET = 24;

    /** Buffer id where there are several. */
    private static final int JOINED = -1;

    private final List<RemoteDescriptor> segments =
            new ArrayList<>(List.of(new RemoteDescriptor()));
    private int flags;
    private long ownerId;
    private int bufferId;
    private int count;

    /** Absent until it is decoded. */
    public BufferHandle() {}

    /** Makes it absent. */
    public void clear() {
        count = 0;
        flags = 0;
    }

    /** Whether it names nothing. */
    public boolean isAbsent() {
        return count == 0;
    }

    BufferHandle set(int newFlags, long owner, int buffer, int segmentCount) {
        flags = newFlags;
        ownerId = owner;
        bufferId = buffer;
        count = segmentCount;
        while (segments.size() < segmentCount) {
            segments.add(new RemoteDescriptor());
        }
        return this;
    }

    /** Becomes equal to another. */
    public BufferHandle set(BufferHandle other) {
        set(other.flags, other.ownerId, other.bufferId, other.count);
        copySegments(other, 0);
        return this;
    }

    /**
     * Becomes one buffer out of several of one process: offsets run over all of them. It is for
     * puts and gets, of which that process does not learn.
     *
     * @throws IllegalArgumentException if there are none, more than {@link #SEGMENTS_MAX} segments,
     *     or owners differ
     */
    public BufferHandle join(List<BufferHandle> buffers) {
        int all = buffers.stream().mapToInt(BufferHandle::segmentCount).sum();
        boolean isOfOne = buffers.stream().mapToLong(BufferHandle::ownerId).distinct().count() == 1;
        if (!isOfOne || all < 1 || all > SEGMENTS_MAX) {
            String what = "%s segments of %s buffers; possible are 1 to %s, all of one process";
            throw new IllegalArgumentException(what.formatted(all, buffers.size(), SEGMENTS_MAX));
        }
        set(-1, buffers.get(0).ownerId, JOINED, all);
        int at = 0;
        for (BufferHandle buffer : buffers) {
            copySegments(buffer, at);
            flags &= buffer.flags;
            at += buffer.count;
        }
        return this;
    }

    boolean isJoined() {
        return bufferId == JOINED;
    }

    private void copySegments(BufferHandle other, int at) {
        for (int i = 0; i < other.count; i++) {
            segment(at + i).set(other.segment(i));
        }
    }

    /** Bytes that {@link #encode} writes; 0 if it is absent. */
    public int encodedLength() {
        return count == 0 ? 0 : SEGMENTS_OFFSET + count * RemoteDescriptor.LENGTH;
    }

    /** Packs it; the number of bytes. */
    public int encode(MutableDirectBuffer buffer, int index) {
        if (count > 0) {
            buffer.putInt(index, TRANSPORT, BIG_ENDIAN);
            buffer.putInt(index + FLAGS_OFFSET, flags, BIG_ENDIAN);
            buffer.putLong(index + OWNER_OFFSET, ownerId, BIG_ENDIAN);
            buffer.putInt(index + BUFFER_OFFSET, bufferId, BIG_ENDIAN);
            buffer.putInt(index + COUNT_OFFSET, count, BIG_ENDIAN);
            for (int i = 0; i < count; i++) {
                segment(i).encode(buffer, index + SEGMENTS_OFFSET + i * RemoteDescriptor.LENGTH);
            }
        }
        return encodedLength();
    }

    /**
     * Unpacks bytes that may come from anywhere; 0 bytes are an absent handle.
     *
     * @return {@code OK}, or {@code EDECODE}: the handle is then absent
     */
    public NntiResult decode(DirectBuffer buffer, int index, int length) {
        clear();
        if (length == 0) {
            return NntiResult.OK;
        }
        int segmentCount = (length - SEGMENTS_OFFSET) / RemoteDescriptor.LENGTH;
        if (segmentCount < 1
                || segmentCount > SEGMENTS_MAX
                || length != SEGMENTS_OFFSET + segmentCount * RemoteDescriptor.LENGTH
                || index < 0
                || index > buffer.capacity() - length
                || buffer.getInt(index, BIG_ENDIAN) != TRANSPORT
                || buffer.getInt(index + COUNT_OFFSET, BIG_ENDIAN) != segmentCount) {
            return NntiResult.EDECODE;
        }
        int itsFlags = buffer.getInt(index + FLAGS_OFFSET, BIG_ENDIAN);
        long owner = buffer.getLong(index + OWNER_OFFSET, BIG_ENDIAN);
        int id = buffer.getInt(index + BUFFER_OFFSET, BIG_ENDIAN);
        set(itsFlags, owner, id, segmentCount);
        long total = 0;
        int at = index + SEGMENTS_OFFSET;
        try {
            for (int i = 0; i < count; i++, at += RemoteDescriptor.LENGTH) {
                total = Math.addExact(total, segment(i).decode(buffer, at).length());
            }
            return NntiResult.OK;
        } catch (IllegalArgumentException | ArithmeticException e) {
            clear();
            return NntiResult.EDECODE;
        }
    }

    /** Flags of the buffer. */
    public int flags() {
        return flags;
    }

    /** The process that owns the buffer, see {@link NntiPeer#id()}. */
    public long ownerId() {
        return ownerId;
    }

    /** The buffer among those of its owner. */
    public int bufferId() {
        return bufferId;
    }

    /** Number of segments; 0 if it is absent. */
    public int segmentCount() {
        return count;
    }

    RemoteDescriptor segment(int index) {
        return segments.get(index);
    }

    /** Where this byte is; the last segment if it is outside. */
    int segmentOf(long offset) {
        int index = 0;
        while (index < count - 1 && offset >= startOf(index + 1)) {
            index++;
        }
        return index;
    }

    /** Bytes before a segment. */
    long startOf(int index) {
        long start = 0;
        for (int i = 0; i < index; i++) {
            start += segment(i).length();
        }
        return start;
    }

    /** Bytes of all segments. */
    public long length() {
        return startOf(count);
    }

    /** Whether an operation that needs a flag may use so many bytes from here on. */
    NntiResult check(int flag, long offset, long length) {
        NntiResult permitted = (flags & flag) == 0 ? NntiResult.EPERM : NntiResult.OK;
        return isAbsent() || !isInside(offset, length) ? NntiResult.EINVAL : permitted;
    }

    /** Whether an atomic operation may change the 8 bytes from here on, which must be aligned. */
    NntiResult checkAtomic(long offset) {
        NntiResult wrong = check(BufferFlags.ATOMICS, offset, Long.BYTES);
        int segment = segmentOf(offset);
        long at = offset - startOf(segment);
        boolean isWord =
                (segment(segment).base() + at & Long.BYTES - 1) == 0
                        && at <= segment(segment).length() - Long.BYTES;
        return wrong == NntiResult.OK && !isWord ? NntiResult.EINVAL : wrong;
    }

    boolean isInside(long offset, long length) {
        return offset >= 0 && length >= 0 && length <= length() - offset;
    }
}
