package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A queue of 64-bit events. A source queue tells how this process's posts and messages went; a
 * destination queue tells what peers have put into memory that was registered with it. C: {@code
 * gni_cq_handle_t} (specification, section 4).
 *
 * <p>Polling takes an event: {@link #event} is then read by {@link CompletionEvent}, and {@link
 * #completed} leads from a source event to its descriptor. No allocation. A source queue cannot
 * overrun, because a post is refused that has no room; a destination queue can, and says so once.
 *
 * <p>Threads: the domain's.
 */
public final class CompletionQueue extends UgniObject {
    /** Mode: only polled. */
    public static final int NO_BLOCK = ugni.GNI_CQ_NOBLOCK;

    /** Mode: can be waited for. */
    public static final int BLOCKING = ugni.GNI_CQ_BLOCKING;

    /** Poll answer: no event. */
    public static final int EMPTY = 0;

    /** Poll answer: an event. */
    public static final int EVENT = 1;

    /** Poll answer: an event that says that a transaction failed. */
    public static final int FAILED = 2;

    /** Poll answer: events were lost. */
    public static final int OVERRUN = 3;

    private static final int SUCCEEDED = -UgniCode.SUCCESS;
    private static final int TRANSACTION_ERROR = -UgniCode.TRANSACTION_ERROR;
    private static final int LOST = -UgniCode.ERROR_RESOURCE;
    private static final int NOT_DONE = -UgniCode.NOT_DONE;
    private static final int POST_OFFSET = 8;

    private final long handle;
    private final int modes;
    private final UnsafeBuffer words = Nic.aligned(16);
    private final long wordsAddress = words.addressOffset();
    private int lastPoll;

    CompletionQueue(Nic owner, long handle, int modes) {
        super(owner);
        this.handle = handle;
        this.modes = modes;
    }

    /** The C handle. */
    public long handle() {
        return handle;
    }

    /** Whether it can be waited for. */
    public boolean isBlocking() {
        return (modes & BLOCKING) != 0;
    }

    /**
     * Takes the oldest event. One call into C, no allocation. C: {@code GNI_CqGetEvent}.
     *
     * @return {@link #EMPTY}, {@link #EVENT}, {@link #FAILED} or {@link #OVERRUN}
     */
    public int poll() {
        checkOpen();
        int result = ugni.vgn_cq_get(handle, wordsAddress);
        if (result == NOT_DONE) {
            lastPoll = EMPTY;
            return EMPTY;
        }
        return answer("GNI_CqGetEvent", result);
    }

    /**
     * Takes the oldest event, and sleeps until there is one. C: {@code GNI_CqWaitEvent}.
     *
     * @param timeoutMs milliseconds; negative: no limit
     * @return as {@link #poll}; {@link #EMPTY} when the time was over
     * @throws IllegalStateException for a queue that is not {@link #BLOCKING}
     */
    public int await(long timeoutMs) {
        checkOpen();
        checkBlocking();
        int result = ugni.vgn_cq_wait(handle, timeoutMs, wordsAddress);
        if (result == -UgniCode.TIMEOUT) {
            lastPoll = EMPTY;
            return EMPTY;
        }
        return answer("GNI_CqWaitEvent", result);
    }

    private int answer(String call, int result) {
        if (!isEvent(result)) {
            throw UgniNative.failure(call, result, this);
        }
        lastPoll = result == SUCCEEDED ? EVENT : result == TRANSACTION_ERROR ? FAILED : OVERRUN;
        return lastPoll;
    }

    static boolean isEvent(int result) {
        return result == SUCCEEDED || result == TRANSACTION_ERROR || result == LOST;
    }

    /** Takes over what a wait for several queues has fetched. */
    void took(int result, long event) {
        words.putLong(0, event);
        answer("GNI_CqVectorWaitEvent", result);
    }

    void checkBlocking() {
        if (!isBlocking()) {
            throw new IllegalStateException(this + " cannot be waited for: it is not BLOCKING");
        }
    }

    /** What the last {@link #poll}, {@link #await} or {@link Nic#awaitAny} answered. */
    public int lastPoll() {
        return lastPoll;
    }

    /** The event that was taken last; see {@link CompletionEvent}. */
    public long event() {
        return words.getLong(0);
    }

    /**
     * Whether {@link #poll} would answer {@link #EMPTY}. Takes nothing. C: {@code GNI_CqTestEvent}.
     */
    public boolean isEmpty() {
        checkOpen();
        return ugni.vgn_cq_test(handle) == NOT_DONE;
    }

    /**
     * The descriptor of the event that was taken last. Every event of a post must be asked for
     * once: with the last one the descriptor is the caller's again. No allocation. C: {@code
     * GNI_GetCompleted}.
     *
     * @param descriptor wrapped to it
     * @return 0; negated TRANSACTION_ERROR if the transaction failed; negated DESCRIPTOR_ERROR for
     *     an event that is not of a post, INVALID_PARAM if it was asked for already: then the
     *     descriptor is left as it is
     */
    public int completed(PostDescriptorFlyweight descriptor) {
        checkOpen();
        int result = ugni.vgn_completed(handle, words.getLong(0), wordsAddress + POST_OFFSET);
        long address = words.getLong(POST_OFFSET);
        if (address != 0) {
            PostDescriptors.completed(owner, address, descriptor);
        }
        return result;
    }

    /**
     * Text of the last event's status, such as {@code SSID_SREQ:MEM_BOUNDS_ERR}. C: {@code
     * GNI_CqErrorStr}. Allocates.
     */
    public String errorText() {
        checkOpen();
        return CompletionEvent.errorText(event());
    }

    @Override
    String kindsOfUsers() {
        return "endpoints, registrations or posts";
    }

    /** C: {@code GNI_CqDestroy}. */
    @Override
    void destroy() {
        UgniNative.check("GNI_CqDestroy", ugni.vgn_cq_destroy(handle), this);
    }

    @Override
    public String toString() {
        return "completion queue 0x" + Long.toHexString(handle);
    }
}
