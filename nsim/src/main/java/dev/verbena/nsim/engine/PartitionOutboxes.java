package dev.verbena.nsim.engine;

/**
 * Which partition an entity belongs to, and the events under way between partitions. There are two
 * outboxes for each ordered pair of partitions: while one is filled in a window, the other, filled
 * in the window before, is emptied by its receiver.
 */
final class PartitionOutboxes {
    private final int[] owners;
    private final int count;
    private final long lookaheadPs;
    private final Outbox[][] outboxes = new Outbox[2][];

    /** The parity of the window that a partition is in. */
    private final int[] parity;

    PartitionOutboxes(int[] owners, int count, long lookaheadPs) {
        this.owners = owners;
        this.count = count;
        this.lookaheadPs = lookaheadPs;
        // Partitions may be worked on by different threads: a cache line each.
        parity = new int[count << PAD];
        for (int i = 0; i < 2; i++) {
            outboxes[i] = new Outbox[count * count];
            for (int pair = 0; pair < count * count; pair++) {
                outboxes[i][pair] = new Outbox();
            }
        }
    }

    private static final int PAD = 4;

    int owner(int entity) {
        return owners[entity];
    }

    /** The outbox of an event for another partition; refuses one within the lookahead. */
    Outbox outbox(int from, int target, long now, long timePs, int source) {
        int to = owners[target];
        if (timePs < now + lookaheadPs) {
            throw new IllegalArgumentException(
                    ("entity %s of partition %s schedules an event for entity %s of partition %s"
                                    + " at %s ps, but it is %s ps, and between partitions a lookahead of %s ps was"
                                    + " promised")
                            .formatted(source, from, target, to, timePs, now, lookaheadPs));
        }
        return outboxes[parity[from << PAD]][from * count + to];
    }

    /** A partition begins a window of a parity: what it sends from now on goes to that one. */
    void begin(int partition, int windowParity) {
        parity[partition << PAD] = windowParity;
        for (int to = 0; to < count; to++) {
            outboxes[windowParity][partition * count + to].clear();
        }
    }

    /** The time of the first event that a partition has sent in a window. */
    long earliestFrom(int partition, int windowParity) {
        long earliest = Long.MAX_VALUE;
        for (int to = 0; to < count; to++) {
            Outbox outbox = outboxes[windowParity][partition * count + to];
            earliest = Math.min(earliest, outbox.earliest());
        }
        return earliest;
    }

    /** A partition takes what all others have sent it in a window. */
    void collect(int partition, Engine engine, int windowParity) {
        for (int from = 0; from < count; from++) {
            engine.take(outboxes[windowParity][from * count + partition]);
        }
    }
}
