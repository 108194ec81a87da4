package dev.verbena.agent;

import dev.verbena.agent.internal.Deadlines;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The processes of a launched job: who they are, which applications they form, and where each can
 * be reached.
 *
 * <p>Each process publishes one line in a directory that all of them share, or at a {@link
 * RendezvousServer}; then every process sees all of them (the world) and those that run the same
 * program (its application, ranks from 0 in the order of world ranks). Several programs started as
 * one job (MPMD) so become several applications that can find each other. A job of one process
 * needs no directory.
 *
 * <p>Entries of other jobs and of dead processes of this host are ignored and reported. In a
 * directory, those of an earlier run that was killed on other hosts are waited for to be replaced:
 * a rank that is started again alone does not join ranks that have joined before. Nothing waits
 * without a time limit. One thread at a time.
 *
 * <p>Source: Nessie's CommSplitter (Oldfield, Lofstead et al.), with a name in place of the
 * executable's path, which is the same for all Java programs.
 */
public final class JobGroup implements AutoCloseable {
    static final long PAUSE_MIN_NS = 500_000;
    static final long PAUSE_MAX_NS = 50_000_000;
    private static final int TEXT_MAX = 1000;

    /**
     * A process of the job.
     *
     * @param worldRank in the whole job
     * @param rank within its application
     * @param application name of its program
     * @param uri where it can be reached, as it published
     * @param host where it runs
     * @param pid its number there
     */
    public record Member(
            int worldRank, int rank, String application, String uri, String host, long pid) {}

    private final JobIdentity identity;
    private final NanoClock clock;
    private final Rendezvous rendezvous;
    private final List<String> ignored = new ArrayList<>();
    private List<Rendezvous.Entry> entries = List.of();
    private List<Member> world = List.of();
    private final Map<String, List<Member>> applications = new TreeMap<>();
    private int worldBarriers;
    private int applicationBarriers;
    private int exchanges;

    private JobGroup(JobIdentity identity, RendezvousStore store, NanoClock clock) {
        this.identity = identity;
        this.clock = clock;
        this.rendezvous = store == null ? null : new Rendezvous(store, identity);
    }

    /**
     * Finds all processes of this job: publishes this one and waits for the others. The property
     * {@code verbena.rendezvous}, else {@code $VERBENA_RENDEZVOUS}, names the directory, or a
     * {@link RendezvousServer} as {@code tcp://HOST:PORT}.
     *
     * @param uri where this process can be reached; empty if it cannot
     * @throws JobGroupException naming what is missing: a variable, the directory, ranks that did
     *     not come in time
     */
    public static JobGroup discover(String uri, long timeoutNs) {
        JobIdentity identity = JobIdentity.discover();
        String place =
                System.getProperty("verbena.rendezvous", System.getenv("VERBENA_RENDEZVOUS"));
        if (place == null || place.isEmpty()) {
            if (identity.size() > 1) {
                throw new JobGroupException(
                        ("a job of %s processes needs a directory that all of them"
                                        + " share: set -Dverbena.rendezvous=DIR or VERBENA_RENDEZVOUS")
                                .formatted(identity.size()));
            }
            return join(identity, null, uri, timeoutNs, SystemNanoClock.INSTANCE);
        }
        return place.startsWith("tcp://")
                ? joinAt(URI.create(place), identity, uri, timeoutNs, SystemNanoClock.INSTANCE)
                : join(identity, Path.of(place), uri, timeoutNs, SystemNanoClock.INSTANCE);
    }

    /**
     * As {@link #discover} with everything given and the address of a {@link RendezvousServer}.
     * Waits for the server, too.
     *
     * @throws JobGroupException naming the server if it does not answer or refuses this process
     */
    public static JobGroup joinAt(
            URI server, JobIdentity identity, String uri, long timeoutNs, NanoClock clock) {
        long deadlineNs = Deadlines.after(clock.nanoTime(), timeoutNs);
        try {
            RendezvousStore store = new TcpRendezvous(server, identity.jobId(), clock, deadlineNs);
            return join(new JobGroup(identity, store, clock), uri, timeoutNs);
        } catch (IOException e) {
            throw new JobGroupException("rendezvous at " + server + " failed: " + e, e);
        }
    }

    /**
     * As {@link #discover} with everything given.
     *
     * @param directory null: only for a job of one process
     */
    public static JobGroup join(
            JobIdentity identity, Path directory, String uri, long timeoutNs, NanoClock clock) {
        if (directory == null) {
            if (identity.size() != 1) {
                throw new JobGroupException(
                        "a job of " + identity.size() + " processes needs a rendezvous directory");
            }
            JobGroup group = new JobGroup(identity, null, clock);
            group.settle(List.of(Rendezvous.Entry.own(identity, uri)));
            return group;
        }
        RendezvousStore store = new DirectoryRendezvous(directory);
        return join(new JobGroup(identity, store, clock), uri, timeoutNs);
    }

    private static JobGroup join(JobGroup group, String uri, long timeoutNs) {
        boolean isJoined = false;
        try {
            group.rendezvous.publish(uri);
            // Nobody may take its entry away before everybody has read it.
            group.awaitAll(timeoutNs);
            if (group.rank() == 0) {
                group.rendezvous.writeUrls(group.members());
            }
            isJoined = true;
        } catch (IOException e) {
            throw new JobGroupException("rendezvous in " + group.rendezvous + " failed: " + e, e);
        } finally {
            if (!isJoined) {
                group.rendezvous.abandon();
            }
        }
        return group;
    }

    private void awaitAll(long timeoutNs) throws IOException {
        JobJoining joining = new JobJoining(rendezvous, identity, clock);
        settle(joining.await(timeoutNs));
        ignored.addAll(joining.ignored());
    }

    /** Takes the entries of all, by rank. */
    private void settle(List<Rendezvous.Entry> sorted) {
        Map<Integer, String> names = new TreeMap<>();
        List<Member> all = new ArrayList<>();
        for (Rendezvous.Entry entry : sorted) {
            String name = names.putIfAbsent(entry.colour(), entry.application());
            if (name != null && !name.equals(entry.application())) {
                throw new JobGroupException(
                        ("applications '%s' and '%s' have the same colour %s: rename"
                                        + " one with -Dverbena.app=NAME")
                                .formatted(
                                        name,
                                        entry.application(),
                                        Rendezvous.text(entry.colour())));
            }
            List<Member> group =
                    applications.computeIfAbsent(entry.application(), n -> new ArrayList<>());
            Member member =
                    new Member(
                            entry.rank(),
                            group.size(),
                            entry.application(),
                            entry.uri(),
                            entry.host(),
                            entry.pid());
            group.add(member);
            all.add(member);
        }
        entries = sorted;
        world = Collections.unmodifiableList(all);
    }

    /** Who this process is. */
    public JobIdentity identity() {
        return identity;
    }

    /** All processes of the job, by world rank. */
    public List<Member> world() {
        return world;
    }

    /** The processes of this application, by rank. */
    public List<Member> members() {
        return application(identity.application());
    }

    /** Rank of this process within its application. */
    public int rank() {
        return world.get(identity.rank()).rank();
    }

    /** Number of processes of this application. */
    public int size() {
        return members().size();
    }

    /** Names of all applications of the job. */
    public List<String> applications() {
        return List.copyOf(applications.keySet());
    }

    /**
     * The processes of an application of this job, by rank.
     *
     * @throws JobGroupException naming those there are
     */
    public List<Member> application(String name) {
        List<Member> found = applications.get(name);
        if (found == null) {
            throw new JobGroupException(
                    "no application '" + name + "' in this job; there are " + applications());
        }
        return Collections.unmodifiableList(found);
    }

    /** What lay in the directory and was not taken, each with the reason. */
    public List<String> ignoredEntries() {
        return List.copyOf(ignored);
    }

    /**
     * Waits until all processes of the job have called this as often.
     *
     * @throws JobGroupException naming the ranks that did not come in time
     */
    public void barrier(long timeoutNs) {
        barrier("world", worldBarriers++, entries, timeoutNs);
    }

    /** As {@link #barrier} among the processes of this application. */
    public void applicationBarrier(long timeoutNs) {
        int colour = identity.colour();
        List<Rendezvous.Entry> mine = new ArrayList<>(entries);
        mine.removeIf(entry -> entry.colour() != colour);
        barrier(Rendezvous.text(colour), applicationBarriers++, mine, timeoutNs);
    }

    /**
     * Gives each process of the job the texts of all, by world rank. A barrier, too: all must call
     * it as often.
     *
     * @param text at most 1,000 characters
     * @throws JobGroupException naming the ranks that did not come in time
     */
    public List<String> exchange(String text, long timeoutNs) {
        if (text.length() > TEXT_MAX) {
            throw new IllegalArgumentException(
                    text.length() + " characters; possible are " + TEXT_MAX);
        }
        if (rendezvous == null) {
            return List.of(text);
        }
        long deadlineNs = Deadlines.after(clock.nanoTime(), timeoutNs);
        int number = exchanges++;
        String what = "exchange " + number;
        List<String> texts = new ArrayList<>();
        try {
            rendezvous.tell(number, text);
            await(what, () -> rendezvous.told(number, entries, texts), deadlineNs, timeoutNs);
            rendezvous.forget("exchange", number - 1);
            return texts;
        } catch (IOException e) {
            throw new JobGroupException(what + " failed: " + e, e);
        }
    }

    /** World ranks that have not come; asked again and again. */
    private interface Look {
        List<Integer> missing() throws IOException;
    }

    private void await(String what, Look look, long deadlineNs, long timeoutNs) throws IOException {
        long pauseNs = PAUSE_MIN_NS;
        for (List<Integer> missing = look.missing(); !missing.isEmpty(); missing = look.missing()) {
            if (clock.nanoTime() - deadlineNs >= 0) {
                throw late(what, missing, timeoutNs);
            }
            checkInterrupted(what);
            LockSupport.parkNanos(this, pauseNs);
            pauseNs = Math.min(2 * pauseNs, PAUSE_MAX_NS);
        }
    }

    /** Nobody could sleep any more, and who interrupted wants it to end. The mark stays set. */
    static void checkInterrupted(String what) {
        if (Thread.currentThread().isInterrupted()) {
            throw new JobGroupException("interrupted in " + what);
        }
    }

    static JobGroupException late(String what, List<Integer> missing, long timeoutNs) {
        return new JobGroupException(
                "%s: world ranks %s did not come within %s ms"
                        .formatted(what, missing, TimeUnit.NANOSECONDS.toMillis(timeoutNs)));
    }

    private void barrier(String scope, int number, List<Rendezvous.Entry> members, long timeoutNs) {
        if (rendezvous == null) {
            return;
        }
        long deadlineNs = Deadlines.after(clock.nanoTime(), timeoutNs);
        String what = "barrier " + number + " of " + scope;
        try {
            rendezvous.arrive(scope, number);
            await(what, () -> rendezvous.missing(scope, number, members), deadlineNs, timeoutNs);
            rendezvous.forget(scope, number - 1);
        } catch (IOException e) {
            throw new JobGroupException(what + " failed: " + e, e);
        }
    }

    /**
     * File with the addresses of an application, written by its rank 0: the number of processes,
     * then one address in a line, by rank.
     */
    public Path urlFile(String application) {
        if (rendezvous == null) {
            throw new JobGroupException("a job of one process without a directory has no URL file");
        }
        application(application);
        Path file = rendezvous.urlFile(JobColour.of(application));
        if (file == null) {
            throw new JobGroupException(
                    "a rendezvous server has no URL file; application() has the addresses");
        }
        return file;
    }

    /**
     * Reads a URL file.
     *
     * @return null while the file is absent or has fewer lines than its first line says
     * @throws IOException naming the file, if it is something else
     */
    public static List<String> readUrls(Path file) throws IOException {
        if (!Files.exists(file)) {
            return null;
        }
        if (Files.size(file) > Rendezvous.URL_FILE_MAX) {
            throw new IOException("URL file " + file + " is longer than any job's");
        }
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (CharacterCodingException e) {
            throw new IOException("URL file " + file + " is no text", e);
        } catch (IOException e) {
            throw new IOException("URL file " + file + ": " + e.getMessage(), e);
        }
        if (lines.isEmpty()) {
            return null;
        }
        int count;
        try {
            count = Integer.parseInt(lines.get(0).trim());
        } catch (NumberFormatException e) {
            throw new IOException("URL file " + file + ": first line is no number", e);
        }
        if (count < 1) {
            throw new IOException("URL file " + file + ": number of processes is " + count);
        }
        return lines.size() <= count ? null : List.copyOf(lines.subList(1, count + 1));
    }

    /** Takes this process' entries away. Idempotent. */
    @Override
    public void close() {
        if (rendezvous != null) {
            rendezvous.close();
        }
    }
}
