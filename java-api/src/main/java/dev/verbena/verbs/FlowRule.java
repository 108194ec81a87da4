package dev.verbena.verbs;

import java.util.List;

/**
 * Packets that come to a queue pair because they look so: {@code struct ibv_flow}. Closing ends the
 * steering; the queue pair is closed after it. Thread-safe.
 */
public final class FlowRule extends VerbsObject {
    FlowRule(QueuePair queue, long address) {
        super("flow rule of " + queue, address, DestroyCall.FLOW_RULE, List.of(queue));
    }
}
