package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * A queue of receives that no queue pair has for itself: {@code struct ibv_wq}. Several of them in
 * a {@link ReceiveTable} take what comes to one queue pair, each with a thread of its own. Posted
 * to by one thread: the first that does, until it {@linkplain #handOver hands over}. States change
 * under the device's lock, by any thread.
 */
public final class ReceiveQueue extends ReceiveOnlyQueue {
    private final int number;

    ReceiveQueue(
            ProtectionDomain domain, long address, CompletionQueue completions, long attributes) {
        super(
                "receive queue %s of %s"
                        .formatted(
                                CallMemory.getInt(address + VerbsLayout.WQ_WQ_NUM),
                                domain.device().info().name()),
                address,
                DestroyCall.RECEIVE_QUEUE,
                List.of(domain, completions),
                ReceivePoster.Kind.ALONE,
                CallMemory.getInt(attributes + VerbsLayout.WQ_INIT_ATTR_MAX_WR),
                CallMemory.getInt(attributes + VerbsLayout.WQ_INIT_ATTR_MAX_SGE));
        this.number = CallMemory.getInt(address + VerbsLayout.WQ_WQ_NUM);
        completesAt(completions);
    }

    /** Number, 24 bits; completions of it have the number of the queue pair that spreads. */
    public int number() {
        return number;
    }

    /**
     * From RESET to ready: receives may be posted, and messages take them.
     *
     * @throws VerbsException from another state
     */
    public void toReady() {
        modify(VerbsLayout.IBV_WQS_RDY);
    }

    /**
     * To ERROR: receives that are posted complete, flushed.
     *
     * @throws VerbsException if the device refuses
     */
    public void toError() {
        modify(VerbsLayout.IBV_WQS_ERR);
    }

    /**
     * To RESET: everything posted is forgotten, without completions.
     *
     * @throws IllegalStateException if another thread posts here, or polls where it completes and
     *     the driver was told not to lock that
     * @throws VerbsException if the device refuses
     */
    public void toReset() {
        synchronized (lock()) {
            exclusively(
                    () -> {
                        modify(VerbsLayout.IBV_WQS_RESET);
                        receives().log.clear();
                    });
        }
    }

    private void modify(int state) {
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.WQ_ATTR_ATTR_MASK, VerbsLayout.IBV_WQ_ATTR_STATE);
            CallMemory.putInt(at + VerbsLayout.WQ_ATTR_WQ_STATE, state);
            device().check("ibv_modify_wq", verbscalls.vv_modify_wq(address(), at));
        }
    }
}
