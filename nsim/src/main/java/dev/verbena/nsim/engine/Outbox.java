package dev.verbena.nsim.engine;

import java.util.Arrays;

/** Events on their way from one partition to another: eight longs each. */
final class Outbox {
    private static final int WIDTH = 8;

    private long[] rows = new long[64 * WIDTH];
    private int end;
    private long earliest = Long.MAX_VALUE;

    void clear() {
        end = 0;
        earliest = Long.MAX_VALUE;
    }

    /** The time of the first, or the largest number. */
    long earliest() {
        return earliest;
    }

    void add(long timePs, long entities, long order, long argument) {
        if (end == rows.length) {
            rows = Arrays.copyOf(rows, 2 * end);
        }
        rows[end] = timePs;
        rows[end + 1] = entities;
        rows[end + 2] = order;
        rows[end + 3] = argument;
        end += WIDTH;
        earliest = Math.min(earliest, timePs);
    }

    /** What travels with the event added last. */
    void attach(long first, long second, long third, long fourth) {
        rows[end - 4] = first;
        rows[end - 3] = second;
        rows[end - 2] = third;
        rows[end - 1] = fourth;
    }

    /** Moves all events to a queue. */
    void deliver(EventQueue queue, ArrivalHandler handler) {
        for (int at = 0; at < end; at += WIDTH) {
            int kind = Engine.kindOf(rows[at + 2]);
            long argument =
                    handler.onArrival(
                            kind,
                            rows[at + 3],
                            rows[at + 4],
                            rows[at + 5],
                            rows[at + 6],
                            rows[at + 7]);
            queue.add(rows[at], rows[at + 1], rows[at + 2], argument);
        }
    }
}
