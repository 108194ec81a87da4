package dev.verbena.transport.core;

/**
 * How many of a poll's events may be completions before messages have their turn. A handler may
 * post anew at each completion, so there may always be as many as a poll delivers. Owned by the
 * transport's thread.
 */
public final class CompletionShare {
    private boolean isUsedUp;

    /** The share of a poll that delivers up to {@code limit} events. */
    public int of(int limit) {
        return isUsedUp ? limit / 2 : limit;
    }

    /** So many completions came before messages in a poll that delivers up to {@code limit}. */
    public void used(int completions, int limit) {
        isUsedUp = completions == limit;
    }
}
