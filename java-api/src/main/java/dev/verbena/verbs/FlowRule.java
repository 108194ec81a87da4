package dev.verbena.verbs;

import dev.verbena.rdma.calls.verbscalls;
import java.util.List;

/**
 * Packets that come to a queue pair because they look so: {@code struct ibv_flow}. Closing ends the
 * steering; the queue pair is closed after it. Thread-safe.
 */
public final class FlowRule extends VerbsObject {
    private final QueuePair queue;

    FlowRule(QueuePair queue, long address) {
        super("flow rule of " + queue, address, List.of(queue));
        this.queue = queue;
    }

    @Override
    Object lock() {
        return queue.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_destroy_flow";
    }

    @Override
    int destroy(long address) {
        return verbscalls.vv_destroy_flow(address);
    }
}
