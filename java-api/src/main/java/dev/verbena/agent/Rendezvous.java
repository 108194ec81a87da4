package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.agrona.CloseHelper;

/**
 * Where the processes of a job find each other: a directory or a server, with the same names.
 *
 * <pre>
 * COLOUR/RANK          one line: verbena-job/1 JOB RANK SIZE HOST PID START APPLICATION URI
 * COLOUR/urls          number of processes, then a URI in each line
 * barrier-JOB/SCOPE-NUMBER/RANK   the process: HOST PID START
 * barrier-JOB/join-0/RANK         the process, then what it has read: a digest of all entries
 * </pre>
 *
 * <p>What is read is checked as anything that comes from another process.
 */
final class Rendezvous {
    static final long URL_FILE_MAX = 1L << 30;

    private static final String MAGIC = "verbena-job/1";
    private static final int FIELDS = 9;
    private static final String URLS = "urls";

    private final RendezvousStore store;
    private final JobIdentity identity;

    /** One process as it published itself. */
    record Entry(
            String jobId,
            int rank,
            int size,
            String host,
            long pid,
            long startMs,
            String application,
            String uri) {

        int colour() {
            return JobColour.of(application);
        }

        /** Tells this process from any other that has or had its rank. */
        String mark() {
            return host + " " + pid + " " + startMs;
        }

        static Entry own(JobIdentity identity, String uri) {
            return new Entry(
                    identity.jobId(),
                    identity.rank(),
                    identity.size(),
                    HostName.NAME,
                    ProcessHandle.current().pid(),
                    ProcessIdentity.ownStartMs(),
                    identity.application(),
                    uri);
        }

        String line() {
            return String.join(
                    " ",
                    MAGIC,
                    encode(jobId),
                    Integer.toString(rank),
                    Integer.toString(size),
                    encode(host),
                    Long.toString(pid),
                    Long.toString(startMs),
                    encode(application),
                    encode(uri) + "\n");
        }

        /** Throws IllegalArgumentException for anything but a complete line. */
        static Entry parse(String text) {
            String[] fields = text.split(" ", -1);
            if (!text.endsWith("\n") || fields.length != FIELDS || !fields[0].equals(MAGIC)) {
                throw new IllegalArgumentException("no entry of this version");
            }
            return new Entry(
                    decode(fields[1]),
                    Integer.parseInt(fields[2]),
                    Integer.parseInt(fields[3]),
                    decode(fields[4]),
                    Long.parseLong(fields[5]),
                    Long.parseLong(fields[6]),
                    decode(fields[7]),
                    decode(fields[8].trim()));
        }

        private static String encode(String text) {
            return URLEncoder.encode(text, UTF_8);
        }

        private static String decode(String text) {
            return URLDecoder.decode(text, UTF_8);
        }
    }

    Rendezvous(RendezvousStore store, JobIdentity identity) {
        this.store = store;
        this.identity = identity;
    }

    static String text(int colour) {
        return String.format("%08x", colour);
    }

    /** The file with the addresses of an application, or null: the store has no files. */
    Path urlFile(int colour) {
        return store instanceof DirectoryRendezvous directory
                ? directory.file(text(colour), URLS)
                : null;
    }

    void publish(String uri) throws IOException {
        String own = text(identity.colour());
        String name = Integer.toString(identity.rank());
        Entry entry = Entry.own(identity, uri);
        refuseSecond(store.read(own).get(name), entry);
        // Addresses of an earlier job must not be taken for ours; ours are not written before
        // everybody has published.
        store.remove(own, URLS);
        store.publish(own, name, entry.line());
    }

    /** A living process of this job and rank would be forgotten by its peers. */
    private void refuseSecond(String text, Entry own) {
        Entry other;
        try {
            other = text == null ? null : Entry.parse(text);
        } catch (IllegalArgumentException e) {
            return;
        }
        if (other != null
                && other.jobId().equals(own.jobId())
                && other.host().equals(own.host())
                && !other.mark().equals(own.mark())
                && ProcessIdentity.isAlive(other.pid(), other.startMs())) {
            throw new JobGroupException(
                    "rank %s of job %s is process %s already: is the job's name used twice?"
                            .formatted(own.rank(), own.jobId(), other.pid()));
        }
    }

    /**
     * Entries of this job, by rank, one for each; the rest goes to {@code ignored} with reasons.
     */
    List<Entry> read(List<String> ignored) throws IOException {
        List<Entry> found = new ArrayList<>();
        for (String colour : store.folders()) {
            if (colour.matches("[0-9a-f]{8}")) {
                store.read(colour)
                        .forEach((name, text) -> read(colour, name, text, found, ignored));
            }
        }
        found.sort(Comparator.comparingInt(Entry::rank));
        return found;
    }

    private void read(
            String colour, String name, String text, List<Entry> found, List<String> ignored) {
        if (name.equals(URLS)) {
            return;
        }
        try {
            if (text.length() > RendezvousStore.TEXT_MAX) {
                throw new IllegalArgumentException("longer than any entry");
            }
            Entry entry = Entry.parse(text);
            String reason = reasonToIgnore(entry, colour, name);
            if (reason == null) {
                found.add(entry);
                return;
            }
            ignored.add(colour + "/" + name + ": " + reason);
        } catch (IllegalArgumentException e) {
            ignored.add(colour + "/" + name + ": " + e.getMessage());
        }
    }

    private String reasonToIgnore(Entry entry, String colour, String name) {
        if (!entry.jobId().equals(identity.jobId())) {
            return "is of job " + entry.jobId();
        }
        if (entry.rank() < 0
                || entry.rank() >= identity.size()
                || entry.size() != identity.size()
                || !name.equals(Integer.toString(entry.rank()))
                || !colour.equals(text(entry.colour()))) {
            return "rank, size or application do not fit";
        }
        if (entry.host().equals(HostName.NAME)
                && !ProcessIdentity.isAlive(entry.pid(), entry.startMs())) {
            return "process " + entry.pid() + " of this host is dead";
        }
        return null;
    }

    /** Where there are files. */
    void writeUrls(List<JobGroup.Member> members) throws IOException {
        if (urlFile(identity.colour()) != null) {
            StringBuilder text = new StringBuilder().append(members.size()).append('\n');
            for (JobGroup.Member member : members) {
                text.append(member.uri()).append('\n');
            }
            store.put(text(identity.colour()), URLS, text.toString());
        }
    }

    private String barrier(String scope, int number) {
        String job = URLEncoder.encode(identity.jobId(), UTF_8);
        return "barrier-" + job + "/" + scope + "-" + number;
    }

    /**
     * Tells these entries from any others. Empty where only processes that run have entries: one
     * that is started again joins those that have joined before.
     */
    String digest(List<Entry> entries) {
        if (store.forgetsTheDead()) {
            return "";
        }
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
        for (Entry entry : entries) {
            digest.update(entry.line().getBytes(UTF_8));
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    void sayRead(String digest) throws IOException {
        store.put(
                barrier("join", 0),
                Integer.toString(identity.rank()),
                saying(Entry.own(identity, ""), digest));
    }

    /** What a process says that has read the entries of this digest. */
    static String saying(Entry entry, String digest) {
        return entry.mark() + "\n" + digest;
    }

    /** What each has said last, by its rank. */
    Map<String, String> saidRead() throws IOException {
        return store.read(barrier("join", 0));
    }

    void arrive(String scope, int number) throws IOException {
        String mark = Entry.own(identity, "").mark();
        store.put(barrier(scope, number), Integer.toString(identity.rank()), mark);
    }

    List<Integer> missing(String scope, int number, List<Entry> members) throws IOException {
        Map<String, String> marks = store.read(barrier(scope, number));
        // A process at the next barrier has left this one and may have removed its mark.
        Map<String, String> next = store.read(barrier(scope, number + 1));
        List<Integer> missing = new ArrayList<>();
        for (Entry member : members) {
            String name = Integer.toString(member.rank());
            String mark = member.mark();
            if (!mark.equals(marks.get(name)) && !mark.equals(next.get(name))) {
                missing.add(member.rank());
            }
        }
        return missing;
    }

    void tell(int number, String text) throws IOException {
        String mark = Entry.own(identity, "").mark();
        store.put(
                barrier("exchange", number),
                Integer.toString(identity.rank()),
                mark + "\n" + URLEncoder.encode(text, UTF_8));
    }

    /**
     * What the members told at this exchange.
     *
     * @param texts takes it, in the order of members
     * @return world ranks of those that have not told
     * @throws JobGroupException if what one told is not a text of ours
     */
    List<Integer> told(int number, List<Entry> members, List<String> texts) throws IOException {
        Map<String, String> found = store.read(barrier("exchange", number));
        List<Integer> missing = new ArrayList<>();
        texts.clear();
        for (Entry member : members) {
            String text = found.get(Integer.toString(member.rank()));
            String mark = member.mark() + "\n";
            if (text != null && text.startsWith(mark)) {
                texts.add(told(member, text, mark.length()));
            } else {
                missing.add(member.rank());
            }
        }
        return missing;
    }

    private String told(Entry member, String text, int from) {
        if (text.getBytes(UTF_8).length > RendezvousStore.TEXT_MAX) {
            throw notOurs(member, "more than " + RendezvousStore.TEXT_MAX + " bytes", null);
        }
        try {
            return URLDecoder.decode(text.substring(from), UTF_8);
        } catch (IllegalArgumentException e) {
            throw notOurs(member, "no text, " + e.getMessage(), e);
        }
    }

    private JobGroupException notOurs(Entry member, String what, Exception why) {
        return new JobGroupException(
                "what world rank %s has told in %s is %s: does another program write there?"
                        .formatted(member.rank(), store, what),
                why);
    }

    /** Takes this process' mark of a barrier that everybody has left. */
    void forget(String scope, int number) throws IOException {
        if (number >= 0) {
            store.remove(barrier(scope, number), Integer.toString(identity.rank()));
        }
    }

    /** The own entry goes; marks of the last barriers stay: others may still wait at them. */
    void close() {
        try (RendezvousStore ending = store) {
            ending.remove(text(identity.colour()), Integer.toString(identity.rank()));
        } catch (IOException e) {
            throw new JobGroupException("cannot remove the entry in " + store + ": " + e, e);
        }
    }

    /** Ends a connection of a process that did not join. What it published stays in a directory. */
    void abandon() {
        CloseHelper.quietClose(store);
    }

    @Override
    public String toString() {
        return store.toString();
    }
}
