package dev.verbena.dart;

import dev.verbena.dart.config.StepSettings;
import dev.verbena.staging.Arguments;

/**
 * How a {@link DartReceiver} puts steps together. Fluent; checked with the receiver's context.
 *
 * <p>A rank's part of a step is there when a message of it says {@link DartMetadata#endOfStep} or
 * as many have come as {@link #messagesPerRank} or {@link DartMetadata#stepMessageCount} say. A
 * step is complete when that holds for as many ranks as {@link #rankCount}, {@link
 * DartClient.Context#rankCount} or {@link DartMetadata#rankCount} say. What neither side says is
 * never guessed: such a step ends by its deadline, as incomplete.
 *
 * <p>For a rank whose process was lost no step waits: it ends as incomplete once all other ranks
 * are there, see {@link DartStep#lostRanks()}; until the rank is heard of again.
 */
public final class DartStepContext {
    /** What becomes of a step that did not get complete. */
    public enum Incomplete {
        /** It is handed to the handler, which is told what is missing. */
        DELIVER,
        /** It is dropped, counted and reported to the error handler of the environment. */
        DROP
    }

    /** What follows when the handler throws. In every case it is counted and reported. */
    public enum OnException {
        /** The step counts as handled. */
        SKIP,
        /**
         * The step is handed over again after a pause of 100 ms that doubles up to 5 s; nothing
         * else is handed over before. After {@link DartStepContext#triesMax} tries: STOP.
         */
        RETRY,
        /**
         * The receiver ends, see {@link DartReceiver#failure()}. What was not acknowledged stays
         * with the servers.
         */
        STOP
    }

    private final DartStepHandler handler;
    private int rankCount;
    private int messagesPerRank;
    private long deadlineNs = 60_000_000_000L;
    private int openStepsMax = 4;
    private long bytesMax = 1L << 30;
    private Incomplete incomplete = Incomplete.DELIVER;
    private OnException onException = OnException.SKIP;
    private int triesMax = 10;
    private boolean isAcknowledgedWhenHandled;

    /** Steps are handed to this. */
    public DartStepContext(DartStepHandler handler) {
        Arguments.notNull("handler", handler);
        this.handler = handler;
    }

    /** Ranks of each application, numbered from 0; 0 (default): what the messages say. */
    public DartStepContext rankCount(int rankCount) {
        this.rankCount = rankCount;
        return this;
    }

    /** Messages of each rank in each step; 0 (default): what the messages say. */
    public DartStepContext messagesPerRank(int messagesPerRank) {
        this.messagesPerRank = messagesPerRank;
        return this;
    }

    /**
     * After this long since its first message a step ends as incomplete; 60 s. Time that the
     * handler takes does not count.
     */
    public DartStepContext deadlineNs(long deadlineNs) {
        this.deadlineNs = deadlineNs;
        return this;
    }

    /**
     * Steps of one application that may be open at a time; 4. A message of a further one waits in
     * its connection, and everything that its server sends behind it, until a step has ended; but
     * more steps are opened, within {@link #bytesMax}, where that may be what the oldest step waits
     * for. A message that has waited for 1 s is reported, with its rank and step, see {@link
     * StepStatistics#held}.
     */
    public DartStepContext openStepsMax(int openStepsMax) {
        this.openStepsMax = openStepsMax;
        return this;
    }

    /**
     * Bytes of memory that open steps of one application may take; 1 GiB. Messages of any step but
     * the oldest wait while all together have reached this. The oldest goes on until it alone has
     * reached it, and then ends as incomplete; so at most twice this is held.
     */
    public DartStepContext bytesMax(long bytesMax) {
        this.bytesMax = bytesMax;
        return this;
    }

    /** What becomes of a step that did not get complete; DELIVER. */
    public DartStepContext incomplete(Incomplete incomplete) {
        this.incomplete = incomplete;
        return this;
    }

    /** What follows when the handler throws; SKIP. */
    public DartStepContext onException(OnException onException) {
        this.onException = onException;
        return this;
    }

    /** How often a step is handed over with RETRY before the receiver stops; 10. */
    public DartStepContext triesMax(int triesMax) {
        this.triesMax = triesMax;
        return this;
    }

    /**
     * False (default): a message is acknowledged as the receiver's {@link AckMode} says, whether or
     * not its step has been handled. True: not before the step was handled, or dropped; then the
     * servers need buffers for all open steps of all their ranks, or steps end by their deadline.
     */
    public DartStepContext acknowledgeWhenHandled(boolean isAcknowledgedWhenHandled) {
        this.isAcknowledgedWhenHandled = isAcknowledgedWhenHandled;
        return this;
    }

    StepSettings settings() {
        return new StepSettings(
                handler,
                rankCount,
                messagesPerRank,
                deadlineNs,
                openStepsMax,
                bytesMax,
                incomplete,
                onException,
                triesMax,
                isAcknowledgedWhenHandled);
    }
}
