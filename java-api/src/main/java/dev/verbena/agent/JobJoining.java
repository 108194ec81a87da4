package dev.verbena.agent;

import dev.verbena.agent.Rendezvous.Entry;
import dev.verbena.agent.internal.Deadlines;
import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;

/**
 * Waits until all processes of a job have read the same entries, which each says of itself. That
 * tells them from processes of an earlier run of the same name that were killed on another host:
 * what those said agrees with their entries, but they have not read that of any process of this
 * run. One thread, once.
 */
final class JobJoining {
    private final Rendezvous rendezvous;
    private final JobIdentity identity;
    private final NanoClock clock;
    private final List<String> ignored = new ArrayList<>();
    private final List<Integer> missing = new ArrayList<>();
    private final BitSet found = new BitSet();

    /** By rank; those read last that were all. Empty: there were never all. */
    private List<Entry> entries = List.of();

    private String digest = "";
    private boolean isToRead = true;
    private long deadlineNs;

    JobJoining(Rendezvous rendezvous, JobIdentity identity, NanoClock clock) {
        this.rendezvous = rendezvous;
        this.identity = identity;
        this.clock = clock;
    }

    /** What was there beside the entries, each with the reason why it is none of them. */
    List<String> ignored() {
        return ignored;
    }

    /**
     * The entries of all, by rank.
     *
     * @param timeoutNs for all to publish, and for others to read what was published last
     * @throws JobGroupException naming the ranks that did not come in time
     */
    List<Entry> await(long timeoutNs) throws IOException {
        deadlineNs = Deadlines.after(clock.nanoTime(), timeoutNs);
        long pauseNs = JobGroup.PAUSE_MIN_NS;
        while (!isAgreed(timeoutNs)) {
            if (clock.nanoTime() - deadlineNs >= 0) {
                throw entries.isEmpty()
                        ? incomplete(timeoutNs)
                        : JobGroup.late("barrier 0 of join", missing, timeoutNs);
            }
            JobGroup.checkInterrupted("join");
            LockSupport.parkNanos(this, pauseNs);
            pauseNs = Math.min(2 * pauseNs, JobGroup.PAUSE_MAX_NS);
        }
        return entries;
    }

    private boolean isAgreed(long timeoutNs) throws IOException {
        if (isToRead) {
            read(timeoutNs);
        }
        if (entries.isEmpty()) {
            return false;
        }
        Map<String, String> said = rendezvous.saidRead();
        missing.clear();
        isToRead = false;
        for (Entry entry : entries) {
            String text = said.get(Integer.toString(entry.rank()));
            if (!Rendezvous.saying(entry, digest).equals(text)) {
                missing.add(entry.rank());
                // It has read others: it or this process must read again.
                isToRead |= text != null;
            }
        }
        return missing.isEmpty();
    }

    /** Fewer than before is no news: who saw that all agree may have left already. */
    private void read(long timeoutNs) throws IOException {
        ignored.clear();
        found.clear();
        List<Entry> read = rendezvous.read(ignored);
        read.forEach(entry -> found.set(entry.rank()));
        boolean isOneOfEach = read.size() == identity.size() && read.size() == found.cardinality();
        if (isOneOfEach && !read.equals(entries)) {
            entries = read;
            digest = rendezvous.digest(read);
            rendezvous.sayRead(digest);
            deadlineNs = Deadlines.after(clock.nanoTime(), timeoutNs);
        }
    }

    private JobGroupException incomplete(long timeoutNs) {
        BitSet absent = new BitSet(identity.size());
        absent.set(0, identity.size());
        absent.andNot(found);
        return new JobGroupException(
                "job %s: %s of %s processes did not come within %s ms: ranks %s%s"
                        .formatted(
                                identity.jobId(),
                                absent.cardinality(),
                                identity.size(),
                                TimeUnit.NANOSECONDS.toMillis(timeoutNs),
                                absent,
                                ignored.isEmpty() ? "" : "; ignored: " + ignored));
    }
}
