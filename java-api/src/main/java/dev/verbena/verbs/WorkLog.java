package dev.verbena.verbs;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What is posted on one queue and not yet completed: for each request the caller's id and the
 * regions that the NIC may touch. Completions name a slot here and the log, not the caller's id, so
 * that a completion of a queue that was closed is recognised and dropped.
 *
 * <p>One thread posts, one polls. Slots are taken in turn; one is free again when its completion
 * was polled.
 */
final class WorkLog {
    /** Numbers of logs that a work request's id has room for. */
    static final int LOGS_MAX = 1 << 23;

    /** Requests that one has room for. */
    static final int PLACES_MAX = 1 << 24;

    private static final int LOG_SHIFT = 40;
    private static final long NUMBER_MASK = (1L << LOG_SHIFT) - 1;

    /** So many places before the next are not stale by age: a quarter of the ids of a log. */
    private static final long RECENT = 1L << LOG_SHIFT - 2;

    private static final VarHandle COMPLETED;
    private static final VarHandle POSTED;
    private static final VarHandle TAKEN = MethodHandles.arrayElementVarHandle(int[].class);

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            COMPLETED = lookup.findVarHandle(WorkLog.class, "completed", long.class);
            POSTED = lookup.findVarHandle(WorkLog.class, "posted", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final VerbsObject queue;
    final int number;
    private final long idBase;
    private final int capacity;
    private final int mask;
    private final int segmentsMax;
    private final boolean isInOrder;
    private final long[] callersIds;
    private final int[] taken;
    private final MemoryRegion[] regions;
    private final MemoryRegion[] only = new MemoryRegion[1];
    private MemoryRegion[] single;
    private VerbsObject[] targets;
    private long posted;
    private long completed;

    /** Ids below are stale: from before a reset, of long ago, or of a queue that was closed. */
    private volatile long cleared;

    /**
     * @param turn of the numbers: what the last two of this number posted is stale
     * @param isInOrder a completion of one request completes all before it: send queues
     */
    WorkLog(
            VerbsObject queue,
            int number,
            int turn,
            int capacity,
            int segmentsMax,
            boolean isInOrder) {
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.queue = queue;
        this.number = number;
        this.idBase = (long) number << LOG_SHIFT;
        this.capacity = capacity;
        this.mask = slots - 1;
        this.segmentsMax = Math.max(1, segmentsMax);
        this.isInOrder = isInOrder;
        this.callersIds = new long[slots];
        this.taken = isInOrder ? new int[0] : new int[slots];
        this.regions = new MemoryRegion[slots * this.segmentsMax];
        this.single = isInOrder && this.segmentsMax == 1 ? regions : null;
        this.posted = turn * RECENT;
        this.completed = posted;
        this.cleared = posted;
    }

    /** Which address handle or window a request names is noted, too. By the posting thread. */
    void noteTargets() {
        if (targets == null) {
            targets = new VerbsObject[callersIds.length];
            single = null;
        }
    }

    /** For tests: as if so many had been posted and completed. */
    void skip(long count) {
        posted += count;
        completed = posted;
    }

    /** A completion of what is not outstanding any more. */
    boolean isStale(long id) {
        return (id - cleared & NUMBER_MASK) > NUMBER_MASK >>> 1;
    }

    static int logOf(long id) {
        return (int) (id >>> LOG_SHIFT);
    }

    /** How many more may be posted now, if in order. */
    int room() {
        return capacity - (int) (posted - (long) COMPLETED.getAcquire(this));
    }

    /** True if nothing may be posted now, if in order. */
    boolean isFull() {
        return posted - (long) COMPLETED.getAcquire(this) >= capacity;
    }

    /** The id to post the next request with. Only if there is room. */
    long nextId() {
        return idBase | posted & NUMBER_MASK;
    }

    /** Notes the next request, which uses one region and names nothing; if in order. */
    void noteOne(long callersId, MemoryRegion region) {
        MemoryRegion[] noted = single;
        if (noted == null) {
            note(callersId, only(region), 1, null);
            return;
        }
        long next = posted;
        // By the arrays' lengths, so that the compiler sees that the indices fit.
        callersIds[(int) next & callersIds.length - 1] = callersId;
        int slot = (int) next & noted.length - 1;
        if (noted[slot] != region) {
            noted[slot] = region;
        }
        advance(next);
    }

    private MemoryRegion[] only(MemoryRegion region) {
        only[0] = region;
        return only;
    }

    /** Notes the next request, before it is posted. */
    void note(long callersId, MemoryRegion[] used, int count, VerbsObject target) {
        if (targets != null) {
            targets[(int) posted & mask] = target;
        }
        note(callersId, used, count);
    }

    /** Notes the next request, before it is posted. */
    void note(long callersId, MemoryRegion[] used, int count) {
        int slot = (int) posted & mask;
        callersIds[slot] = callersId;
        int at = slot * segmentsMax;
        for (int i = 0; i < segmentsMax; i++) {
            MemoryRegion region = i < count ? used[i] : null;
            if (regions[at + i] != region) {
                regions[at + i] = region;
            }
        }
        if (!isInOrder) {
            TAKEN.setRelease(taken, slot, 1);
        }
        advance(posted);
    }

    /** Past this place. Once per turn of the ring {@link #cleared} is carried along. */
    private void advance(long place) {
        if (((int) place & mask) == 0 && place - cleared > RECENT) {
            cleared = place - RECENT;
        }
        POSTED.setRelease(this, place + 1);
    }

    /** For queues that complete in any order: true if the next slot is free. */
    boolean isNextFree() {
        for (int tries = 0; tries <= mask; tries++) {
            if ((int) TAKEN.getAcquire(taken, (int) posted & mask) == 0) {
                return true;
            }
            advance(posted);
        }
        return false;
    }

    /** The library did not take the request of this id; the latest first. */
    void takeBack(long id) {
        if (isInOrder) {
            POSTED.setRelease(this, posted - 1);
        } else {
            TAKEN.setRelease(taken, (int) (id & NUMBER_MASK) & mask, 0);
        }
    }

    /** A completion was polled: the caller's id of its request. */
    long complete(long id) {
        long low = id & NUMBER_MASK;
        int slot = (int) low & mask;
        long callersId = callersIds[slot];
        if (isInOrder) {
            long done = (long) COMPLETED.getOpaque(this);
            // The number has 40 bits; the distance is small. A completion from before a reset
            // counts no more.
            long distance = low + 1 - done & NUMBER_MASK;
            if (distance <= capacity) {
                COMPLETED.setRelease(this, done + distance);
            }
        } else {
            TAKEN.setRelease(taken, slot, 0);
        }
        return callersId;
    }

    /** The queue was reset: nothing is outstanding, and what was posted completes no more. */
    void clear() {
        cleared = posted;
        COMPLETED.setRelease(this, posted);
        for (int slot = 0; slot < taken.length; slot++) {
            TAKEN.setRelease(taken, slot, 0);
        }
    }

    /** True while a request that uses the region is outstanding. */
    boolean uses(MemoryRegion region) {
        long from = (long) COMPLETED.getAcquire(this);
        long to = (long) POSTED.getAcquire(this);
        if (isInOrder) {
            for (long i = from; i < to; i++) {
                if (isIn((int) i & mask, region)) {
                    return true;
                }
            }
            return false;
        }
        for (int slot = 0; slot < taken.length; slot++) {
            if ((int) TAKEN.getAcquire(taken, slot) != 0 && isIn(slot, region)) {
                return true;
            }
        }
        return false;
    }

    /** True while a request that names it is outstanding. */
    boolean names(VerbsObject target) {
        long from = (long) COMPLETED.getAcquire(this);
        long to = (long) POSTED.getAcquire(this);
        // Read after what the posting thread wrote last, which is the count.
        VerbsObject[] noted = targets;
        if (noted == null) {
            return false;
        }
        for (long i = from; i < to; i++) {
            if (noted[(int) i & mask] == target) {
                return true;
            }
        }
        return false;
    }

    private boolean isIn(int slot, MemoryRegion region) {
        for (int i = 0; i < segmentsMax; i++) {
            if (regions[slot * segmentsMax + i] == region) {
                return true;
            }
        }
        return false;
    }
}
