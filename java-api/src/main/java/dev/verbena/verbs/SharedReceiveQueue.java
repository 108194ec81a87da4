package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.Arrays;

/**
 * Receives for many queue pairs: {@code struct ibv_srq}. Posted to by one thread: the first that
 * does, until it {@linkplain #handOver hands over}.
 *
 * <p>Closing a queue pair, some NICs drop its completions that were not polled. Receives that they
 * were of are not known to be done, then: they keep their regions until this queue is closed. The
 * queue itself goes on with the NIC's places, until three times as many as it has were dropped;
 * posting answers {@link Post#PLACES_LOST} from then on.
 */
public final class SharedReceiveQueue extends ReceiveOnlyQueue {
    private final XrcDomain xrcDomain;

    SharedReceiveQueue(
            ProtectionDomain domain, long address, SharedReceiveContext context, long attributes) {
        super(
                "shared receive queue of " + domain.device().info().name(),
                address,
                DestroyCall.SHARED_RECEIVE_QUEUE,
                Arrays.asList(domain, context.xrcDomain, context.completions),
                ReceivePoster.Kind.SHARED,
                CallMemory.getInt(attributes + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_WR),
                CallMemory.getInt(attributes + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_SGE));
        this.xrcDomain = context.xrcDomain;
        if (context.isXrc()) {
            completesAt(context.completions);
        }
    }

    /**
     * Number that senders of extended reliable connections name it by.
     *
     * @throws VerbsException for a queue without an XRC domain
     */
    public int number() {
        synchronized (lock()) {
            long out = device().memory().argument();
            device().check("ibv_get_srq_num", verbscalls.vv_srq_number(address(), out));
            return CallMemory.getInt(out);
        }
    }

    /** Null unless for extended reliable connections. */
    XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /**
     * Asks for one event {@link AsyncEvent#SHARED_RECEIVE_QUEUE_LIMIT} when fewer receives are
     * left.
     *
     * @throws VerbsException if the device cannot
     */
    public void limit(int receives) {
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.SRQ_ATTR_SRQ_LIMIT, receives);
            device().check(
                            "ibv_modify_srq",
                            verbscalls.vv_modify_srq(address(), at, VerbsLayout.IBV_SRQ_LIMIT));
        }
    }

    /** The limit that is set; 0 for none. */
    public int limit() {
        synchronized (lock()) {
            long at = device().memory().argument();
            device().check("ibv_query_srq", verbscalls.vv_query_srq(address(), at));
            return CallMemory.getInt(at + VerbsLayout.SRQ_ATTR_SRQ_LIMIT);
        }
    }

    /** The NIC may have dropped completions of its receives. Under the lock. */
    void pairClosed() {
        receives().placesMayBeLost();
    }
}
