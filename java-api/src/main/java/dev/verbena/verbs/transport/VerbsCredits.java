package dev.verbena.verbs.transport;

/**
 * The credits of a connection, both ways: the same number at each end, which has slots for as many
 * messages, and for as many credits given back as it can itself have messages on the way. Owned by
 * the transport's thread.
 */
final class VerbsCredits {
    private int countMax;

    /** Messages that the peer's slots have room for. */
    private int count;

    /** Slots of ours that the peer has filled, and of those the free ones it does not know of. */
    private int held;

    private int unreturned;

    /** Credits in the message that gives them back and has not completed. */
    private int returning;

    private boolean isReturningAll;

    /** The pairs are joined, with so many credits. */
    void agreed(int agreedCount) {
        countMax = agreedCount;
        count = agreedCount;
    }

    // ---- the peer's slots ----

    boolean isAny() {
        return count > 0;
    }

    /** For a message. */
    void take() {
        count--;
    }

    /** The message was refused before it took a slot. */
    void takeBack() {
        count++;
    }

    /** The peer gives credits back; false if that makes no sense. */
    boolean add(int given) {
        if (given < 1 || given > countMax - count) {
            return false;
        }
        count += given;
        return true;
    }

    // ---- our slots ----

    /** The peer filled a slot of ours; false if it had no credit for it. */
    boolean hold() {
        held++;
        return held <= countMax;
    }

    /** A slot that the peer had filled is free. */
    void free() {
        unreturned++;
    }

    /** Gives back every free slot, also fewer than are worth a message: nothing else is to do. */
    void returnAll() {
        isReturningAll = unreturned > 0;
    }

    /**
     * Half of the credits at a time; or at once if the peer has none left that we know of, because
     * it may wait for the last one.
     */
    boolean isReturnDue() {
        return returning == 0
                && unreturned > 0
                && (unreturned >= countMax >> 1 || held >= countMax || isReturningAll);
    }

    /** Begins to give credits back; how many. */
    int beginReturn() {
        returning = unreturned;
        unreturned = 0;
        isReturningAll = false;
        held -= returning;
        return returning;
    }

    /** Whether the message that gives credits back is on its way. */
    boolean isReturning() {
        return returning > 0;
    }

    /** The peer has them. */
    void returned() {
        returning = 0;
    }

    /** What was being given back, if anything, has not reached the peer. */
    void returnLost() {
        unreturned += returning;
        held += returning;
        returning = 0;
    }
}
