package dev.verbena.cli.chaos;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** What goes wrong when: made from a seed alone, so that a run can be repeated. */
record ChaosPlan(List<Event> events, long durationMs) {
    /** What can go wrong, how often compared with the others, and its amount. */
    enum Kind {
        /** Every stream ends with a reset. */
        CUT(3, 0, 0),
        /** A stream ends after so many bytes more: in the middle of a frame. */
        CUT_AFTER(4, 1, 1_500_000),
        /** Nothing passes for so many milliseconds. */
        STALL(2, 50, 2_500),
        /** Connections lead nowhere for so many milliseconds: half open. */
        HOLE(1, 100, 2_500),
        /** The receiver is frozen for so many milliseconds. */
        STOP_RECEIVER(1, 50, 2_500),
        /** A server is frozen for so many milliseconds. */
        STOP_SERVER(2, 50, 2_000),
        /** A client is frozen for so many milliseconds. */
        STOP_CLIENT(1, 50, 2_500),
        /** The receiver's disk is full for so many milliseconds. */
        FULL(1, 200, 2_500),
        /** A client is killed and begins a new life after so many milliseconds. */
        KILL_CLIENT(2, 0, 800),
        /** The receiver is killed and comes back after so many milliseconds. */
        KILL_RECEIVER(3, 0, 1_500),
        /** A slave is killed; another one comes after so many milliseconds. */
        KILL_SLAVE(2, 0, 1_500),
        /**
         * The master is killed; another one comes after so many milliseconds, and the slaves of the
         * old one are stopped in order and replaced.
         */
        KILL_MASTER(2, 0, 1_500),
        /** A slave is stopped in order; another one comes after so many milliseconds. */
        RESTART_SLAVE(1, 0, 1_500),
        /** The master is stopped in order; once it has ended, as after a kill. */
        RESTART_MASTER(1, 0, 1_500),
        /** Strangers connect to the receiver's port and stay for so many milliseconds. */
        STRANGERS(2, 100, 4_000),
        /** A stranger connects to the master over the transport, and is killed at last. */
        STRANGER(1, 1_500, 5_000);

        private final int weight;
        private final int least;
        private final int most;

        Kind(int weight, int least, int most) {
            this.weight = weight;
            this.least = least;
            this.most = most;
        }
    }

    /** One thing that goes wrong. The target is taken modulo the number of such processes. */
    record Event(long atMs, Kind kind, int target, int amount) {
        @Override
        public String toString() {
            return String.format("%6d ms %s target %d amount %d", atMs, kind, target, amount);
        }
    }

    private static final int FIRST_MS = 1_000;
    private static final int PAUSE_LEAST_MS = 150;
    private static final int PAUSE_MOST_MS = 2_200;

    /**
     * What is wanted is drawn also if it is not possible here: the rest of the plan stays the same.
     */
    static ChaosPlan of(long seed, long durationMs, Set<Kind> wanted, Set<Kind> possible) {
        SplittableRandom random = new SplittableRandom(seed);
        List<Kind> bag = new ArrayList<>();
        for (Kind kind : EnumSet.copyOf(wanted)) {
            for (int i = 0; i < kind.weight; i++) {
                bag.add(kind);
            }
        }
        List<Event> events = new ArrayList<>();
        for (long at = FIRST_MS; at < durationMs; ) {
            Kind kind = bag.get(random.nextInt(bag.size()));
            int amount = kind.least + random.nextInt(kind.most - kind.least + 1);
            Event event = new Event(at, kind, random.nextInt(1_000), amount);
            if (possible.contains(kind)) {
                events.add(event);
            }
            at += PAUSE_LEAST_MS + random.nextInt(PAUSE_MOST_MS - PAUSE_LEAST_MS);
        }
        return new ChaosPlan(List.copyOf(events), durationMs);
    }
}
