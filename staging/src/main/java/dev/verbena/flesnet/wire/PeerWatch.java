package dev.verbena.flesnet.wire;

/**
 * Whether a peer still answers (section 8): every message counts as a sign of life. A silence of
 * ten mean gaps makes it inactive: then it is asked, once in a heartbeat. One of fifteen, with
 * three questions unanswered, is its end. Only silence while this side looks counts. One thread;
 * allocates nothing.
 */
public final class PeerWatch {
    private static final int INACTIVE_GAPS = 10;
    private static final int LOST_GAPS = 15;
    private static final int UNANSWERED_MAX = 3;
    private static final long SAMPLES_MAX = 10_000;
    private static final int LATENCIES = 10;

    private final long heartbeatNs;
    private final long[] latencies = new long[LATENCIES];
    private final long[] sorted = new long[LATENCIES];
    private long meanGapNs;
    private long samples = 1;
    private long heardNs;
    private long askedNs;
    private int unanswered;
    private int latencyCount;

    /** Before anything was heard the mean gap counts as one heartbeat. */
    public PeerWatch(long heartbeatNs, long nowNs) {
        this.heartbeatNs = heartbeatNs;
        meanGapNs = heartbeatNs;
        heardNs = nowNs;
        askedNs = nowNs - heartbeatNs;
    }

    /** A message came. */
    public void heard(long nowNs) {
        samples = Math.min(samples + 1, SAMPLES_MAX);
        meanGapNs += (nowNs - heardNs - meanGapNs) / samples;
        heardNs = nowNs;
        unanswered = 0;
    }

    /** The answer to a question of this time came. */
    public void answered(long sentNs, long nowNs) {
        latencies[latencyCount++ % LATENCIES] = Math.max(0, nowNs - sentNs) / 2;
    }

    /** Whether the peer is to be asked now. */
    public boolean isDue(long nowNs) {
        return nowNs - askedNs >= heartbeatNs && nowNs - heardNs >= silenceNs(INACTIVE_GAPS);
    }

    /** It was asked. */
    public void asked(long nowNs) {
        askedNs = nowNs;
        unanswered++;
    }

    /** Whether a question has no answer yet: otherwise the peer is not lost. */
    public boolean isAsked() {
        return unanswered > 0;
    }

    /** Whether the peer is lost. */
    public boolean isLost(long nowNs) {
        return unanswered > UNANSWERED_MAX && nowNs - heardNs >= silenceNs(LOST_GAPS);
    }

    private long silenceNs(int gaps) {
        return Math.max(heartbeatNs, gaps * meanGapNs);
    }

    /** When {@link #isDue} may become true. */
    public long dueNs() {
        return Math.max(askedNs + heartbeatNs, heardNs + silenceNs(INACTIVE_GAPS));
    }

    /** Median of half the last round trips; 0 if there was none. */
    public long latencyNs() {
        int count = Math.min(latencyCount, LATENCIES);
        if (count == 0) {
            return 0;
        }
        System.arraycopy(latencies, 0, sorted, 0, count);
        java.util.Arrays.sort(sorted, 0, count);
        return sorted[count / 2];
    }
}
