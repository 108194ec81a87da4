package dev.verbena.nsim.world;

import java.util.ArrayList;
import java.util.List;

/**
 * Both ends of every byte stream that is connected, in the order of their connecting, to be looked
 * at when a partition ends. Belongs to the world's thread.
 */
final class StreamEnds {
    private static final int PRUNED_MIN = 64;

    private final List<SimulatedStream> ends = new ArrayList<>();
    private int pruneAt = PRUNED_MIN;

    void add(SimulatedStream end) {
        if (ends.size() >= pruneAt) {
            ends.removeIf(SimulatedStream::isOver);
            pruneAt = Math.max(PRUNED_MIN, 2 * ends.size());
        }
        ends.add(end);
    }

    /** A partition has ended, perhaps. */
    void retry() {
        ends.removeIf(SimulatedStream::isOver);
        for (SimulatedStream end : List.copyOf(ends)) {
            end.retry();
        }
    }
}
