package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.QueuePairType;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * How the memory of a measurement is laid out: for each queue pair a piece that is sent from, and
 * behind all those one that the peer may write to; and which bytes belong there. One thread.
 */
final class PerftestMemory {
    /** Bytes before a datagram's own: the route header. */
    static final int ROUTE_HEADER = 40;

    private static final byte SENTINEL = (byte) 0xa5;

    private final MemoryRegion region;
    private final PerftestTool tool;
    private final boolean isDatagram;
    private final int queues;
    private final int stride;
    private final int cycle;
    private final int cacheLine;

    PerftestMemory(
            MemoryRegion region,
            PerftestOptions options,
            PerftestEndpoint.Agreement agreement,
            int sizeMax) {
        this.region = region;
        this.tool = options.tool;
        this.isDatagram = options.connection == QueuePairType.UD;
        this.queues = options.queues;
        this.cycle = agreement.cycle();
        this.cacheLine = agreement.cacheLine();
        this.stride = stride(agreement, sizeMax);
    }

    private static int stride(PerftestEndpoint.Agreement agreement, int sizeMax) {
        int line = agreement.cacheLine();
        return (Math.max(sizeMax, agreement.cycle()) + ROUTE_HEADER + line - 1) & -line;
    }

    /** Bytes that a region needs for so many queue pairs. */
    static long length(PerftestEndpoint.Agreement agreement, int sizeMax, int queues) {
        return 2L * queues * stride(agreement, sizeMax);
    }

    /** How many different places small messages take turns in. */
    int slots(int size) {
        boolean isTurning = !tool.isLatency() && 2 * size <= cycle;
        return isTurning ? Math.max(1, cycle / turn(size)) : 1;
    }

    int turn(int size) {
        return Math.max(cacheLine, (size + cacheLine - 1) / cacheLine * cacheLine);
    }

    /** Bytes of every message of this size; before it is sent. */
    void fillMessages(int q, int size) {
        UnsafeBuffer half = window(sendOffset(q), stride);
        for (int slot = 0; slot < slots(size); slot++) {
            for (int k = 0; k < size; k++) {
                half.putByte(slot * turn(size) + k, pattern(k));
            }
        }
    }

    /** Bytes that a peer reads, or that a peer's writes are to replace. */
    void fillTarget(int q) {
        UnsafeBuffer half = window(receiveOffset(q), stride);
        for (int k = 0; k < stride; k++) {
            half.putByte(k, tool.isRead() ? pattern(k) : SENTINEL);
        }
        if (tool.isAtomic()) {
            half.setMemory(0, stride, (byte) 0);
        }
    }

    /**
     * The last message of a size came whole.
     *
     * @param offset of its first byte in the region
     * @param first of the pattern that it has
     * @param length of what is compared
     * @throws Messages.Failure naming the first byte that is wrong
     */
    void verify(long offset, int first, int length) {
        UnsafeBuffer window = window(offset, length);
        for (int k = 0; k < length; k++) {
            if (window.getByte(k) != pattern(first + k)) {
                throw new Messages.Failure(
                        "byte " + k + " of a message of " + length + " bytes arrived damaged");
            }
        }
    }

    /** True if the peer has written to the first bytes of what it may write to. */
    boolean isTargetTouched(int q, int size) {
        UnsafeBuffer window = window(receiveOffset(q), size);
        for (int k = 0; k < size; k++) {
            if (window.getByte(k) != SENTINEL) {
                return true;
            }
        }
        return false;
    }

    long sendOffset(int q) {
        return (long) q * stride;
    }

    long receiveOffset(int q) {
        return ((long) queues + q) * stride;
    }

    /** Where received bytes begin. */
    long payloadOffset(int q) {
        return receiveOffset(q) + headerLength();
    }

    int headerLength() {
        return isDatagram ? ROUTE_HEADER : 0;
    }

    UnsafeBuffer window(long offset, int length) {
        return region.buffer(offset, length);
    }

    /** What every message of a Verbena has at an offset; a peer that is one, too, looks. */
    static byte pattern(long offset) {
        return (byte) (offset * 131 + (offset >>> 8) * 17 + 1);
    }
}
