package dev.verbena.dart.store;

import java.util.UUID;

/**
 * What was reported last of a compute process; in the journal of its receiver.
 *
 * @param registration registrations of the process before the one that was reported
 */
public record RankEntry(
        UUID job, int clientId, int applicationId, int rank, int registration, int state) {
    /** Processes that are remembered. */
    public static final int ENTRIES_MAX = 8192;

    /** Its server has lost it; nobody was told. */
    public static final int LOST = 0;

    /** As LOST, and the user's handler has returned. */
    public static final int TOLD = 1;

    /** A server serves it. */
    public static final int HERE = 2;

    /** The same loss, of which the user knows now. */
    public RankEntry told() {
        return new RankEntry(job, clientId, applicationId, rank, registration, TOLD);
    }
}
