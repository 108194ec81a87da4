package dev.verbena.dart.step;

import dev.verbena.dart.DartMessage;
import dev.verbena.dart.DartMetadata;
import dev.verbena.dart.DartStep;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.function.IntPredicate;
import org.agrona.collections.Int2ObjectHashMap;

/** A step that is being put together, or handed over. Owned by the receiver's agent. */
public final class OpenStep implements DartStep {
    /** Most ranks that a list of what is missing names. */
    private static final int NAMED_MAX = 65_536;

    /** Pieces are still expected. */
    static final int OPEN = 0;

    /** Whole, or given up: waits for the handler. */
    static final int READY = 1;

    /** Handed over or dropped; its messages are free. */
    static final int ENDED = 2;

    /** What is here of one rank. */
    private static final class RankPart {
        final int rank;
        final List<StepPart> messages = new ArrayList<>(1);
        int expected;
        long lost;
        boolean isMarked;
        boolean isOver;

        /** Over because its process was lost. */
        boolean isDead;

        RankPart(int rank) {
            this.rank = rank;
        }

        boolean isWhole() {
            return isOver && !isDead && lost == 0 && messages.size() >= expected;
        }
    }

    final StepGroup group;
    final long step;

    /** Deadlines count from here. */
    long sinceNs;

    int state = OPEN;
    int failures;
    long bytes;
    String trouble = "";

    private final Int2ObjectHashMap<RankPart> parts = new Int2ObjectHashMap<>();
    private int rankCount;
    private int overCount;
    private List<DartMessage> ordered;

    public OpenStep(StepGroup group, long step, int rankCount, long nowNs) {
        this.group = group;
        this.step = step;
        this.rankCount = rankCount;
        this.sinceNs = nowNs;
    }

    /** Its messages take so much more; less than nothing: one of them is free. */
    void account(long cost) {
        bytes += cost;
        group.account(cost);
    }

    void tooLarge(long bytesMax) {
        trouble = "it takes more than bytesMax " + bytesMax;
    }

    /** Nothing more is wanted of it. */
    void ready() {
        state = READY;
    }

    /** It was handed over or dropped. */
    void ended() {
        state = ENDED;
    }

    /** Nobody could take messages for so long. */
    void postpone(long ns) {
        sinceNs += ns;
    }

    void handlerFailed() {
        failures++;
    }

    private RankPart part(int rank) {
        RankPart part = parts.get(rank);
        if (part == null) {
            part = new RankPart(rank);
            parts.put(rank, part);
        }
        return part;
    }

    /** Whether a message of this rank can still belong to the step. */
    boolean wants(int rank) {
        if (rank < 0 || rankCount > 0 && rank >= rankCount) {
            return false;
        }
        RankPart part = parts.get(rank);
        return part == null || !part.isOver;
    }

    /** Whether it waits for such a rank; true if nobody said how many ranks there are. */
    boolean waitsForAny(IntPredicate ranks) {
        if (rankCount == 0) {
            return true;
        }
        for (int rank = 0; rank < rankCount; rank++) {
            if (wants(rank) && ranks.test(rank)) {
                return true;
            }
        }
        return false;
    }

    /** Messages of this rank were lost on their way. */
    public void lost(int rank, long count) {
        part(rank).lost += count;
    }

    /** A message that was begun will not come; what it said of its step still holds. */
    void gaveUp(StepPart message, int messagesPerRank) {
        RankPart part = part(message.metadata().rank());
        part.lost++;
        announced(part, message.metadata(), messagesPerRank);
    }

    void add(StepPart message, int messagesPerRank) {
        RankPart part = part(message.metadata().rank());
        part.messages.add(message);
        announced(part, message.metadata(), messagesPerRank);
    }

    private void announced(RankPart part, DartMetadata metadata, int messagesPerRank) {
        if (rankCount == 0) {
            rankCount = metadata.rankCount();
        }
        int expected = messagesPerRank > 0 ? messagesPerRank : metadata.stepMessageCount();
        part.expected = Math.max(part.expected, expected);
        part.isMarked |= metadata.isEndOfStep();
        boolean hasAll = part.expected > 0 && part.messages.size() + part.lost >= part.expected;
        if (!part.isOver && (part.isMarked || hasAll)) {
            part.isOver = true;
            overCount++;
        }
    }

    /** The process of this rank was lost: nothing more is expected of it. */
    void died(int rank) {
        if (wants(rank)) {
            RankPart part = part(rank);
            part.isDead = true;
            part.isOver = true;
            overCount++;
        }
    }

    /** A process of this rank is there again. */
    void cameBack(int rank) {
        RankPart part = parts.get(rank);
        if (state == OPEN && part != null && part.isDead) {
            part.isDead = false;
            part.isOver = false;
            overCount--;
        }
    }

    /** Nothing more is expected. */
    boolean isOver() {
        return rankCount > 0 && overCount >= rankCount;
    }

    /** Messages that are here, in no order. */
    void forEach(java.util.function.Consumer<StepPart> action) {
        for (RankPart part : parts.values()) {
            part.messages.forEach(action);
        }
    }

    @Override
    public UUID serviceId() {
        return group.job;
    }

    @Override
    public int applicationId() {
        return group.applicationId;
    }

    @Override
    public long step() {
        return step;
    }

    @Override
    public int rankCount() {
        return rankCount;
    }

    @Override
    public boolean isComplete() {
        if (!isOver() || !trouble.isEmpty()) {
            return false;
        }
        for (RankPart part : parts.values()) {
            if (!part.isWhole()) {
                return false;
            }
        }
        return true;
    }

    private int[] ranks() {
        int[] ranks = new int[parts.size()];
        int count = 0;
        for (RankPart part : parts.values()) {
            ranks[count++] = part.rank;
        }
        Arrays.sort(ranks);
        return ranks;
    }

    @Override
    public int[] missingRanks() {
        int[] known = ranks();
        long end = Math.max(rankCount, known.length == 0 ? 0 : known[known.length - 1] + 1L);
        int[] missing = new int[16];
        int count = 0;
        int at = 0;
        for (long rank = 0; rank < end && count < NAMED_MAX; rank++) {
            boolean isHere = at < known.length && known[at] == rank;
            boolean isMissing = isHere ? !parts.get((int) rank).isWhole() : rank < rankCount;
            at += isHere ? 1 : 0;
            if (isMissing) {
                if (count == missing.length) {
                    missing = Arrays.copyOf(missing, 2 * count);
                }
                missing[count++] = (int) rank;
            }
            if (!isHere && rank >= rankCount && at < known.length) {
                // Behind the ranks that there are said to be: on to the next that was heard of.
                rank = known[at] - 1L;
            }
        }
        return Arrays.copyOf(missing, count);
    }

    @Override
    public int[] lostRanks() {
        return Arrays.stream(ranks()).filter(rank -> parts.get(rank).isDead).toArray();
    }

    @Override
    public String missing() {
        if (isComplete()) {
            return "";
        }
        StringBuilder text = new StringBuilder(trouble);
        if (rankCount == 0) {
            join(text).append("nobody said how many ranks there are");
        }
        for (int rank : missingRanks()) {
            if (text.length() > 400) {
                text.append(", ...");
                break;
            }
            join(text).append("rank ").append(rank);
            RankPart part = parts.get(rank);
            if (part == null) {
                text.append(": nothing came");
            } else if (part.isDead) {
                text.append(": its process was lost");
                text.append(part.messages.isEmpty() ? ", nothing came" : "");
            } else if (part.lost > 0) {
                text.append(": ").append(part.lost).append(" messages were lost");
            } else if (part.expected > 0) {
                text.append(": ").append(part.messages.size()).append(" of ").append(part.expected);
            } else {
                text.append(": no end after ").append(part.messages.size()).append(" messages");
            }
        }
        return text.toString();
    }

    private static StringBuilder join(StringBuilder text) {
        return text.length() == 0 ? text : text.append(", ");
    }

    @Override
    public List<DartMessage> messages() {
        if (ordered == null) {
            List<DartMessage> all = new ArrayList<>();
            for (int rank : ranks()) {
                all.addAll(parts.get(rank).messages);
            }
            ordered = Collections.unmodifiableList(all);
        }
        return ordered;
    }

    @Override
    public DartMessage message(int rank, String variable) {
        RankPart part = parts.get(rank);
        if (part != null) {
            for (StepPart message : part.messages) {
                if (message.metadata().variable().equals(variable)) {
                    return message;
                }
            }
        }
        return null;
    }

    @Override
    public int failureCount() {
        return failures;
    }

    @Override
    public String toString() {
        return "step " + step + " of application " + group.applicationId;
    }
}
