package dev.verbena.flesnet.consume;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.concurrent.UnsafeBuffer;

/** What a broker knows of one consumer. What the consumer wrote is looked at, never relied on. */
final class Worker {
    static final int NONE = -1;

    /** No more of the time since the last look counts as silence: all may have stood still. */
    static final long COUNTED_NS = 3_000_000_000L;

    private final UnsafeBuffer buffer;
    private final int at;
    private final int[] queue = new int[ConsumerSegment.QUEUE];
    private ConsumerWish wish;
    private long token;
    private long handed;
    private long completed;
    private int pending = NONE;
    private long beat;
    private long heardNs;
    private long lookedNs;

    Worker(UnsafeBuffer buffer, int at) {
        this.buffer = buffer;
        this.at = at;
    }

    boolean isFree() {
        return wish == null;
    }

    ConsumerWish wish() {
        return wish;
    }

    void begin(ConsumerWish wanted, long newToken, long nowNs) {
        wish = wanted;
        token = newToken;
        handed = 0;
        completed = 0;
        pending = NONE;
        beat = 0;
        heardNs = nowNs;
        lookedNs = nowNs;
        buffer.setMemory(at, ConsumerSegment.LEAVING + Integer.BYTES, (byte) 0);
        buffer.putLongOrdered(at + ConsumerSegment.TOKEN, token);
    }

    /** Its items must have been taken back. */
    void end() {
        wish = null;
        buffer.putLongOrdered(at + ConsumerSegment.TOKEN, 0);
    }

    int outstanding() {
        return (int) (handed - completed);
    }

    boolean isIdle() {
        return handed == completed && pending == NONE;
    }

    boolean hasRoom() {
        return handed - completed < ConsumerSegment.QUEUE;
    }

    void hand(int item) {
        int slot = (int) (handed % ConsumerSegment.QUEUE);
        queue[slot] = item;
        buffer.putInt(at + ConsumerSegment.QUEUED + slot * Integer.BYTES, item, LITTLE_ENDIAN);
        handed++;
        buffer.putLongOrdered(at + ConsumerSegment.HANDED, handed);
    }

    /** Keeps this one for later; the one that was kept before, or -1. */
    int keep(int item) {
        int before = pending;
        pending = item;
        return before;
    }

    /** Hands over what was kept, once the worker is free for it. */
    boolean handKept() {
        if (pending == NONE || handed != completed) {
            return false;
        }
        hand(pending);
        pending = NONE;
        return true;
    }

    /**
     * The next item that it has completed; -1: none.
     *
     * @throws IllegalStateException if it says what cannot be
     */
    int takeCompleted() {
        long said = buffer.getLongVolatile(at + ConsumerSegment.COMPLETED);
        if (said < completed || said > handed) {
            throw new IllegalStateException(
                    "it completed %s of %s timeslices".formatted(said, handed));
        }
        return said == completed ? NONE : takeBack();
    }

    /** An item that it has not completed, or that was kept for it; -1: none. */
    int takeBack() {
        if (handed != completed) {
            return queue[(int) (completed++ % ConsumerSegment.QUEUE)];
        }
        int kept = pending;
        pending = NONE;
        return kept;
    }

    boolean isLeaving() {
        return buffer.getIntVolatile(at + ConsumerSegment.LEAVING) != 0;
    }

    /** Whether it has given no sign of life for so long, though it has nothing to do. */
    boolean isSilent(long nowNs, long limitNs) {
        long said = buffer.getLongVolatile(at + ConsumerSegment.WORKER_BEAT);
        heardNs += Math.max(0, nowNs - lookedNs - COUNTED_NS);
        if (said != beat || handed != completed) {
            beat = said;
            heardNs = nowNs;
        }
        lookedNs = nowNs;
        return nowNs - heardNs > limitNs;
    }

    /** Number of its process; until it has said that, what its token has. */
    long process() {
        long said = buffer.getLongVolatile(at + ConsumerSegment.PROCESS);
        return said == 0 ? token >>> 32 : said;
    }
}
