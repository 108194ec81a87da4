package dev.verbena.verbs;

import java.util.List;

/**
 * A promise that what is made with it is used by one thread, so that the driver need not lock:
 * {@code struct ibv_td}. Put into a {@linkplain ProtectionDomain#allocateParentDomain parent
 * domain}. Every queue of the toolkit is used by one thread at a time; all queues of a thread
 * domain are used by the same one: the first that posts to or polls any of them, until it calls
 * {@code handOver()} of any of them. Another thread gets an exception, because the driver would end
 * the process.
 */
public final class ThreadDomain extends VerbsObject {
    private final ThreadClaim queues = new ThreadClaim("a queue of a thread domain", true);

    ThreadDomain(RdmaDevice device, long address) {
        super(
                "thread domain of " + device.info().name(),
                address,
                DestroyCall.THREAD_DOMAIN,
                List.of(device));
    }

    /** The one of every queue that is made with it. */
    ThreadClaim queues() {
        return queues;
    }
}
