package dev.verbena.verbs;

import dev.verbena.rdma.calls.HotCalls;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Where work requests report how they ended: {@code struct ibv_cq}. Polled by one thread: the first
 * that does, until it {@linkplain #handOver hands over}.
 *
 * <p>{@link #poll} is one call into native code however many completions it takes, and allocates
 * nothing. Completions of queue pairs that were closed are dropped. On an extended queue ({@code
 * struct ibv_cq_ex}) that call starts, goes on and ends the polling: it is never left half done,
 * while the driver may hold a lock.
 */
public final class CompletionQueue extends VerbsObject {
    /** Answer of {@link #poll}: the queue is closed. */
    public static final int CLOSED = -2;

    /** Most completions that one {@link #poll} takes. */
    public static final int POLL_MAX = 256;

    private static final int POLL_MAX_SHIFT = 8;

    private final ThreadClaim claim;
    private final boolean isUnlocked;
    private final CompletionFlyweight flyweight;
    private final int details;
    private final int stride;

    /** Freed by the garbage collector: somebody may read a view of it after close. */
    private final UnsafeBuffer completions;

    private final long memory;

    /** By their numbers; changed by making a new map, so that a poller reads it without a lock. */
    private volatile Int2ObjectHashMap<WorkLog> logs = new Int2ObjectHashMap<>();

    private Int2ObjectHashMap<WorkLog> lastLogs;
    private WorkLog lastLog;
    private int polled;

    CompletionQueue(RdmaDevice device, CompletionQueueContext context, long address) {
        super(
                "completion queue %s of %s"
                        .formatted(
                                CallMemory.getInt(address + VerbsLayout.CQ_HANDLE),
                                device.info().name()),
                address,
                DestroyCall.COMPLETION_QUEUE,
                Arrays.asList(device, context.channel, context.parentDomain));
        ProtectionDomain domain = context.parentDomain;
        String kind = "a completion queue";
        this.claim = domain == null ? new ThreadClaim(kind) : domain.newClaim(kind);
        this.isUnlocked = context.isSingleThreaded() || claim.isShared();
        this.details = context.detailsToRead();
        this.stride =
                details == 0 ? CompletionFlyweight.LENGTH : CompletionFlyweight.EXTENDED_LENGTH;
        this.completions =
                new UnsafeBuffer(BufferUtil.allocateDirectAligned(POLL_MAX * stride, Long.BYTES));
        this.memory = completions.addressOffset();
        this.flyweight = new CompletionFlyweight(details, completions);
        device.remember(address, this);
    }

    /** Completions that it holds at least. */
    public int capacity() {
        return field(VerbsLayout.CQ_CQE);
    }

    /**
     * Takes completions, which {@link #completion} shows until the next call.
     *
     * @param limit 1 to {@link #POLL_MAX}
     * @return how many; {@link #CLOSED}; {@code -errno} if the device failed
     * @throws IllegalArgumentException for another limit
     * @throws IllegalStateException if another thread polls this queue
     */
    public int poll(int limit) {
        long address = checkPoll(limit);
        if (address == 0) {
            polled = 0;
            return CLOSED;
        }
        return took(
                details == 0
                        ? HotCalls.poll(address, limit, memory)
                        : verbscalls.vv_poll_cq_ex(address, details, limit, memory));
    }

    /** How many completions the last poll answered; 0 after one that failed. */
    public int polled() {
        return polled;
    }

    /** What {@link #poll} checks; the address to poll, 0 after close. */
    long checkPoll(int limit) {
        claim.check();
        if (limit < 1 || limit > POLL_MAX) {
            throw new IllegalArgumentException("limit " + limit + "; 1 to " + POLL_MAX);
        }
        return addressOrZero();
    }

    /** True if the calling thread polls it, and what {@link #checkPoll} checks is well. */
    boolean isPolledPlainly(int limit) {
        return claim.isOf(Thread.currentThread())
                && limit - 1 >>> POLL_MAX_SHIFT == 0
                && details == 0;
    }

    /** It answered that there is none. */
    void tookNone() {
        polled = 0;
    }

    /** True if it is polled by a call of its own. */
    boolean isExtended() {
        return details != 0;
    }

    /** Where polled completions are written. */
    long memory() {
        return memory;
    }

    /** What the library answered: completions in {@link #memory}, or an error. */
    int took(int answer) {
        int count = answer > 0 ? translate(answer) : answer;
        polled = Math.max(0, count);
        return count;
    }

    /**
     * A completion of the last poll; the same view each time, moved.
     *
     * @throws IndexOutOfBoundsException for an index that the last poll did not answer, and after
     *     close
     * @throws IllegalStateException if another thread polls this queue
     */
    public CompletionFlyweight completion(int index) {
        claim.check();
        if (index < 0 || index >= polled) {
            throw new IndexOutOfBoundsException(
                    "completion " + index + "; the last poll answered " + polled);
        }
        return flyweight.moveTo(index * stride);
    }

    /** Puts the callers' ids in place of ours, and leaves out what belongs to closed queues. */
    private int translate(int count) {
        Int2ObjectHashMap<WorkLog> table = logs;
        WorkLog log = table == lastLogs ? lastLog : null;
        lastLogs = table;
        int kept = 0;
        for (int i = 0; i < count; i++) {
            long at = memory + i * stride;
            long id = UnsafeApi.getLong(null, at + VerbsLayout.WC_WR_ID);
            int number = WorkLog.logOf(id);
            if (log == null || log.number != number) {
                log = table.get(number);
            }
            if (log == null) {
                continue;
            }
            if (log.isStale(id)) {
                continue;
            }
            long to = memory + kept * stride;
            if (to != at) {
                UnsafeApi.copyMemory(at, to, stride);
            }
            UnsafeApi.putLong(null, to + VerbsLayout.WC_WR_ID, log.complete(id));
            kept++;
        }
        lastLog = log;
        return kept;
    }

    /**
     * Asks for an announcement on the channel when the next completion arrives. One announcement
     * for one request.
     *
     * @param isSolicitedOnly only if the peer asked for it, or for an error
     * @throws IllegalStateException without a channel, or after close
     */
    public void requestNotification(boolean isSolicitedOnly) {
        synchronized (lock()) {
            long address = address();
            if (CallMemory.getLong(address + VerbsLayout.CQ_CHANNEL) == 0) {
                throw new IllegalStateException(
                        this + " was made without a channel; give one to createCompletionQueue");
            }
            device().check(
                            "ibv_req_notify_cq",
                            verbscalls.vv_req_notify_cq(address, isSolicitedOnly ? 1 : 0));
        }
    }

    /**
     * Changes how many completions it holds at least.
     *
     * @param capacity from 1
     * @throws IllegalArgumentException for less
     * @throws IllegalStateException if another thread polls this queue
     * @throws VerbsException if the device cannot
     */
    public void resize(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + "; a completion queue holds 1 at least");
        }
        synchronized (lock()) {
            exclusively(
                    () ->
                            device().check(
                                            "ibv_resize_cq",
                                            verbscalls.vv_resize_cq(address(), capacity)));
        }
    }

    /**
     * Announces only every so many completions, or after a time.
     *
     * @param count 0 to 65535
     * @param periodUs 0 to 65535
     * @throws VerbsException if the device cannot
     */
    public void moderate(int count, int periodUs) {
        if ((count | periodUs) >>> 16 != 0) {
            throw new IllegalArgumentException(
                    "count " + count + ", period " + periodUs + " us; each 0 to 65535");
        }
        synchronized (lock()) {
            device().check("ibv_modify_cq", verbscalls.vv_modify_cq(address(), count, periodUs));
        }
    }

    /** Lets another thread poll; by the one that polls now. */
    public void handOver() {
        claim.handOver();
    }

    /** Under the lock. */
    void watch(WorkLog log) {
        Int2ObjectHashMap<WorkLog> more = new Int2ObjectHashMap<>(logs);
        more.put(log.number, log);
        logs = more;
    }

    /** Under the lock. */
    void unwatch(WorkLog log) {
        Int2ObjectHashMap<WorkLog> fewer = new Int2ObjectHashMap<>(logs);
        fewer.remove(log.number);
        logs = fewer;
    }

    /**
     * Refuses to give back places of shared receives that have a thread domain which this queue has
     * not: polling does that, and the driver does not lock it.
     */
    void checkTakes(ThreadClaim receives) {
        if (receives.isShared() && receives != claim) {
            throw new IllegalArgumentException(
                    ("%s is not of the thread domain of the shared receives that complete "
                                    + "there; say it by CompletionQueueContext.parentDomain")
                            .formatted(this));
        }
    }

    /**
     * What must be alone to close or reset what completes in these queues: the driver removes its
     * completions, without a lock where one thread was promised.
     */
    static List<ThreadClaim> claimsBeside(ThreadClaim own, Collection<CompletionQueue> queues) {
        List<ThreadClaim> claims = new ArrayList<>();
        claims.add(own);
        for (CompletionQueue queue : queues) {
            if (queue != null && queue.isUnlocked) {
                claims.add(queue.claim);
            }
        }
        return claims;
    }

    @Override
    ThreadClaim claim() {
        return claim;
    }

    @Override
    void onClosed(long formerAddress) {
        device().forget(formerAddress);
        polled = 0;
        flyweight.end();
    }
}
