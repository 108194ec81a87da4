package dev.verbena.verbs;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * Where completion queues announce completions, so that a thread can sleep instead of polling:
 * {@code struct ibv_comp_channel}.
 *
 * <p>The order that loses nothing: {@link CompletionQueue#requestNotification}, poll once more,
 * {@link #await}, poll.
 */
public final class CompletionChannel extends VerbsObject {
    private final int file;
    private final Object bellLock = new Object();
    private int bell;

    CompletionChannel(RdmaDevice device, long address) {
        super(
                "completion channel %s of %s"
                        .formatted(
                                CallMemory.getInt(address + VerbsLayout.COMP_CHANNEL_FD),
                                device.info().name()),
                address,
                DestroyCall.COMPLETION_CHANNEL,
                List.of(device));
        this.file = CallMemory.getInt(address + VerbsLayout.COMP_CHANNEL_FD);
        device.check("fcntl", verbscalls.vv_set_nonblocking(file));
        this.bell = verbscalls.vv_open_bell();
        check("eventfd", bell, "may this process open more files (ulimit -n)?");
    }

    /**
     * Sleeps until a queue announces a completion or {@link #wakeup} is called. The announcement is
     * acknowledged. Waits without holding the device's lock; one thread at a time.
     *
     * @param timeoutNs 0: do not wait; rounded up to whole milliseconds
     * @return the queue; null if none did in time, or it was woken
     * @throws IllegalStateException after close
     */
    public CompletionQueue await(long timeoutNs) {
        CompletionQueue queue = take();
        if (queue != null || timeoutNs <= 0) {
            return queue;
        }
        beginWaiting();
        int waitedFor = bell;
        try {
            device().check(
                            "poll",
                            verbscalls.vv_wait_either(file, waitedFor, Deadlines.toMs(timeoutNs)));
        } finally {
            // Nobody closes the files while somebody waits.
            verbscalls.vv_still_bell(waitedFor);
            endWaiting();
        }
        return take();
    }

    /**
     * Ends the present or the next {@link #await} that would sleep. Any thread; it does not wait
     * for the device's lock, under which registering much memory takes seconds.
     */
    public void wakeup() {
        synchronized (bellLock) {
            if (bell >= 0) {
                verbscalls.vv_ring_bell(bell);
            }
        }
    }

    private CompletionQueue take() {
        synchronized (lock()) {
            CallMemory memory = device().memory();
            int result = verbscalls.vv_get_cq_event(address(), memory.out());
            if (result == -VerbsErrno.EAGAIN) {
                return null;
            }
            device().check("ibv_get_cq_event", result);
            long queue = memory.made();
            verbscalls.vv_ack_cq_events(queue, 1);
            return (CompletionQueue) device().queueAt(queue);
        }
    }

    /** Its address, if it is of this device. */
    long addressFor(RdmaDevice asking) {
        checkOf(asking);
        return address();
    }

    @Override
    void onClosed(long formerAddress) {
        synchronized (bellLock) {
            verbscalls.vv_close_bell(bell);
            bell = -1;
        }
    }
}
