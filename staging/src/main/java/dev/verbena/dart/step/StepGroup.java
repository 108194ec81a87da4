package dev.verbena.dart.step;

import dev.verbena.staging.DeliveredNumbers;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.agrona.collections.Int2IntHashMap;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;
import org.agrona.collections.Long2ObjectHashMap;

/** The steps of one application of one job. Owned by the receiver's agent. */
public final class StepGroup {
    /** Ended steps that are remembered, so that what comes late opens none of them again. */
    static final int ENDED_MAX = 1024;

    /** Ranks whose server is remembered. */
    private static final int SERVERS_MAX = 65_536;

    private static final int NO_SERVER = -1;

    final UUID job;
    final int applicationId;

    /** In the order in which they were opened. */
    final List<OpenStep> open = new ArrayList<>();

    /** Ranks whose processes were lost and not heard of since. */
    final IntHashSet lostRanks = new IntHashSet();

    /** When it was last reported that a rank is ahead; 0: never. */
    private long reportedNs;

    long bytes;
    private final long[] ended = new long[ENDED_MAX];
    private int endedCount;
    private int endedAt;
    private final Long2ObjectHashMap<OpenStep> openByStep = new Long2ObjectHashMap<>();

    /** Server over which the last message of a rank came. */
    private final Int2IntHashMap servers = new Int2IntHashMap(NO_SERVER);

    private final Int2ObjectHashMap<LastSeen> seen = new Int2ObjectHashMap<>();

    /** The last message that was begun of a client. */
    private static final class LastSeen {
        long sequence;
        OpenStep step;

        /** Messages that were lost since, before those that came and are part of no step. */
        long missing;

        /** A message of this step begins: how many were lost since the last one of a step. */
        long begun(long next, OpenStep of) {
            long gap = isSameRun(next) ? missing + gapBefore(next) : 0;
            missing = 0;
            sequence = Math.max(sequence, next);
            step = of;
            return gap;
        }

        void passes(long next) {
            missing += gapBefore(next);
            sequence = Math.max(sequence, next);
        }

        /** A process that registered anew has other numbers. */
        private boolean isSameRun(long next) {
            return next >>> DeliveredNumbers.GENERATION_SHIFT
                    == sequence >>> DeliveredNumbers.GENERATION_SHIFT;
        }

        private long gapBefore(long next) {
            boolean isKnown = sequence > 0 && isSameRun(next);
            return isKnown ? Math.max(0, next - sequence - 1) : 0;
        }
    }

    public StepGroup(UUID job, int applicationId) {
        this.job = job;
        this.applicationId = applicationId;
    }

    /** Its open steps take so much more. */
    void account(long cost) {
        bytes += cost;
    }

    /** Whether it is to be reported that a rank is ahead, which counts as done then. */
    boolean isReportDue(long now, long everyNs) {
        boolean isDue = reportedNs == 0 || now - reportedNs - everyNs >= 0;
        reportedNs = isDue ? now : reportedNs;
        return isDue;
    }

    OpenStep find(long step) {
        return openByStep.get(step);
    }

    void open(OpenStep step) {
        open.add(step);
        openByStep.put(step.step, step);
    }

    /** A message of this rank came over this server's stream. */
    void cameOver(int serverId, int rank) {
        if (servers.size() < SERVERS_MAX || servers.containsKey(rank)) {
            servers.put(rank, serverId);
        }
    }

    /**
     * Whether something that the oldest step waits for can be behind the next message of this
     * server: messages of one server come in order, whatever their rank.
     */
    boolean isOldestBehind(int serverId) {
        OpenStep oldest = open.get(0);
        return oldest.state == OpenStep.OPEN
                && oldest.waitsForAny(rank -> isBehind(serverId, rank));
    }

    private boolean isBehind(int serverId, int rank) {
        int server = servers.get(rank);
        return server == NO_SERVER || server == serverId;
    }

    /** Whether this step has ended; one that is older than all that are remembered counts too. */
    boolean hasEnded(long step) {
        long lowest = Long.MAX_VALUE;
        for (int i = 0; i < endedCount; i++) {
            if (ended[i] == step) {
                return true;
            }
            lowest = Math.min(lowest, ended[i]);
        }
        return endedCount == ENDED_MAX && step < lowest;
    }

    void end(OpenStep step) {
        open.remove(step);
        openByStep.remove(step.step);
        ended[endedAt] = step.step;
        endedAt = (endedAt + 1) % ENDED_MAX;
        endedCount = Math.min(ENDED_MAX, endedCount + 1);
    }

    /**
     * A message of this step begins: how many messages of its client were lost before it and can be
     * blamed on no other step than this.
     */
    long begun(int clientId, long sequence, OpenStep step) {
        LastSeen last = seen.get(clientId);
        if (last == null) {
            last = new LastSeen();
            seen.put(clientId, last);
        }
        boolean isBlamed =
                last.step == null || last.step == step || last.step.state != OpenStep.OPEN;
        long gap = last.begun(sequence, step);
        return isBlamed ? gap : 0;
    }

    /** A message that is part of no step begins: it is not lost. True. */
    boolean passes(int clientId, long sequence) {
        LastSeen last = seen.get(clientId);
        if (last != null) {
            last.passes(sequence);
        }
        return true;
    }
}
