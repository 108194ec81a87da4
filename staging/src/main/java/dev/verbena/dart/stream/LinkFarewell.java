package dev.verbena.dart.stream;

/**
 * The end of a stream: the farewell to the receiver, and when it is not waited for any longer.
 * Owned by a link.
 */
final class LinkFarewell {
    private static final int LOST_MAX = 5;

    /** Nothing is owed to a receiver that has been away for so long: it is not waited for. */
    private static final long AWAY_NS = 3_000_000_000L;

    boolean isWanted;
    private long wantedNs;
    private boolean isSaid;
    private int lostCount;

    /** Everything is given to the link. */
    void want(long nowNs) {
        if (!isWanted) {
            isWanted = true;
            wantedNs = nowNs;
        }
    }

    /**
     * A connection is lost.
     *
     * @param isSaidNow the farewell was sent over it
     * @param isAllAcknowledged only the farewell was not
     * @return whether nobody answers any more
     */
    boolean isUnanswered(boolean isSaidNow, boolean isAllAcknowledged) {
        isSaid |= isSaidNow;
        return isSaid && isAllAcknowledged && ++lostCount >= LOST_MAX;
    }

    /** One that only lost its connection is back sooner; one that left in order never comes. */
    boolean isNotOwed(long nowNs, long awaySinceNs) {
        return !isSaid && nowNs - awaySinceNs - AWAY_NS >= 0 && nowNs - wantedNs - AWAY_NS >= 0;
    }
}
