package dev.verbena.dart.store;

import java.util.UUID;

/** What was reported last of a compute process; in the journal of its receiver. */
public final class RankEntry {
    /** Processes that are remembered. */
    public static final int ENTRIES_MAX = 8192;

    /** Its server has lost it; nobody was told. */
    public static final int LOST = 0;

    /** As LOST, and the user's handler has returned. */
    public static final int TOLD = 1;

    /** A server serves it. */
    public static final int HERE = 2;

    final UUID job;
    final int clientId;
    final int applicationId;
    final int rank;
    private int registration;
    private int state;
    private long dueNs;

    public RankEntry(
            UUID job, int clientId, int applicationId, int rank, int registration, int state) {
        this.job = job;
        this.clientId = clientId;
        this.applicationId = applicationId;
        this.rank = rank;
        this.registration = registration;
        this.state = state;
    }

    /** Registrations of the process before the one that was reported. */
    public int registration() {
        return registration;
    }

    public void registration(int later) {
        registration = later;
    }

    public int state() {
        return state;
    }

    public void state(int next) {
        state = next;
    }

    /** When a loss counts. */
    public long dueNs() {
        return dueNs;
    }

    public void dueNs(long nowNs) {
        dueNs = nowNs;
    }

    public int applicationId() {
        return applicationId;
    }

    public int clientId() {
        return clientId;
    }

    public UUID job() {
        return job;
    }

    public int rank() {
        return rank;
    }
}
