package dev.verbena.verbs;

/**
 * Logs by their numbers; changed by making a new one, so that a poller reads it without a lock.
 * Immutable.
 */
final class WorkLogTable {
    static final WorkLogTable EMPTY = new WorkLogTable(new WorkLog[2], 0);

    private final WorkLog[] slots;
    private final int count;

    private WorkLogTable(WorkLog[] slots, int count) {
        this.slots = slots;
        this.count = count;
    }

    /** Null if there is none of this number. */
    WorkLog get(int number) {
        int mask = slots.length - 1;
        int at = number & mask;
        WorkLog log = slots[at];
        while (log != null && log.number != number) {
            at = at + 1 & mask;
            log = slots[at];
        }
        return log;
    }

    WorkLogTable with(WorkLog log) {
        if (get(log.number) != null) {
            return this;
        }
        WorkLogTable copy = new WorkLogTable(new WorkLog[slotsFor(count + 1)], count + 1);
        copyTo(copy, null);
        copy.place(log);
        return copy;
    }

    WorkLogTable without(WorkLog log) {
        if (get(log.number) == null) {
            return this;
        }
        WorkLogTable copy = new WorkLogTable(new WorkLog[slotsFor(count - 1)], count - 1);
        copyTo(copy, log);
        return copy;
    }

    /** A power of two, at most half full. */
    private static int slotsFor(int count) {
        return Integer.highestOneBit(Math.max(1, count)) << 2;
    }

    private void copyTo(WorkLogTable copy, WorkLog but) {
        for (WorkLog log : slots) {
            if (log != null && log != but) {
                copy.place(log);
            }
        }
    }

    private void place(WorkLog log) {
        int mask = slots.length - 1;
        int at = log.number & mask;
        while (slots[at] != null) {
            at = at + 1 & mask;
        }
        slots[at] = log;
    }
}
