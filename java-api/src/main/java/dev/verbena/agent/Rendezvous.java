package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The directory in which the processes of a job find each other.
 *
 * <pre>
 * COLOUR/RANK          one line: verbena-job/1 JOB RANK SIZE HOST PID START APPLICATION URI
 * COLOUR/urls          number of processes, then a URI in each line
 * barrier-JOB/SCOPE-NUMBER/RANK   the process: HOST PID START
 * </pre>
 *
 * <p>A file appears complete: it is written under another name and renamed. What is read is checked
 * as anything that comes from another process.
 */
final class Rendezvous {
    static final long URL_FILE_MAX = 1L << 30;

    private static final String MAGIC = "verbena-job/1";
    private static final int FIELDS = 9;
    private static final long ENTRY_MAX = 8192;
    private static final String TEMPORARY = ".tmp-";

    private final Path directory;
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

    Rendezvous(Path directory, JobIdentity identity) {
        this.directory = directory;
        this.identity = identity;
    }

    static String text(int colour) {
        return String.format("%08x", colour);
    }

    private Path colourDirectory(int colour) {
        return directory.resolve(text(colour));
    }

    Path urlFile(int colour) {
        return colourDirectory(colour).resolve("urls");
    }

    void publish(String uri) throws IOException {
        Path own = colourDirectory(identity.colour());
        Files.createDirectories(own);
        // Addresses of an earlier job must not be taken for ours; ours are not written before
        // everybody has published.
        Files.deleteIfExists(own.resolve("urls"));
        String name = Integer.toString(identity.rank());
        writeAtomically(own.resolve(name), Entry.own(identity, uri).line());
    }

    private void writeAtomically(Path path, String text) throws IOException {
        String name = TEMPORARY + path.getFileName() + "-" + ProcessHandle.current().pid();
        Path temporary = path.resolveSibling(name);
        Files.writeString(temporary, text);
        Files.move(
                temporary,
                path,
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** Entries of this job, one for each rank; the rest goes to {@code ignored} with reasons. */
    List<Entry> read(List<String> ignored) throws IOException {
        List<Entry> found = new ArrayList<>();
        try (DirectoryStream<Path> colours = Files.newDirectoryStream(directory)) {
            for (Path colour : colours) {
                if (colour.getFileName().toString().matches("[0-9a-f]{8}")) {
                    readColour(colour, found, ignored);
                }
            }
        }
        return found;
    }

    private void readColour(Path colour, List<Entry> found, List<String> ignored)
            throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(colour, "[0-9]*")) {
            for (Path file : files) {
                try {
                    Entry entry = read(file);
                    String reason = reasonToIgnore(entry, colour, file);
                    if (reason == null) {
                        found.add(entry);
                    } else {
                        ignored.add(file + ": " + reason);
                    }
                } catch (NoSuchFileException e) {
                    // Its process took it away meanwhile.
                    continue;
                } catch (IllegalArgumentException e) {
                    ignored.add(file + ": " + e.getMessage());
                }
            }
        } catch (NoSuchFileException e) {
            ignored.add(colour + ": went away");
        }
    }

    private static Entry read(Path file) throws IOException {
        if (Files.size(file) > ENTRY_MAX) {
            throw new IllegalArgumentException("longer than any entry");
        }
        return Entry.parse(new String(Files.readAllBytes(file), UTF_8));
    }

    private String reasonToIgnore(Entry entry, Path colour, Path file) {
        if (!entry.jobId().equals(identity.jobId())) {
            return "is of job " + entry.jobId();
        }
        if (entry.rank() < 0
                || entry.rank() >= identity.size()
                || entry.size() != identity.size()
                || !file.getFileName().toString().equals(Integer.toString(entry.rank()))
                || !colour.getFileName().toString().equals(text(entry.colour()))) {
            return "rank, size or application do not fit";
        }
        if (entry.host().equals(HostName.NAME)
                && !ProcessIdentity.isAlive(entry.pid(), entry.startMs())) {
            return "process " + entry.pid() + " of this host is dead";
        }
        return null;
    }

    void writeUrls(List<JobGroup.Member> members) throws IOException {
        StringBuilder text = new StringBuilder().append(members.size()).append('\n');
        for (JobGroup.Member member : members) {
            text.append(member.uri()).append('\n');
        }
        writeAtomically(urlFile(identity.colour()), text.toString());
    }

    private Path barrier(String scope, int number) {
        String job = URLEncoder.encode(identity.jobId(), UTF_8);
        return directory.resolve("barrier-" + job).resolve(scope + "-" + number);
    }

    void arrive(String scope, int number) throws IOException {
        Path barrier = barrier(scope, number);
        Files.createDirectories(barrier);
        String mark = Entry.own(identity, "").mark();
        writeAtomically(barrier.resolve(Integer.toString(identity.rank())), mark);
    }

    List<Integer> missing(String scope, int number, List<Entry> members) throws IOException {
        Path barrier = barrier(scope, number);
        // A process at the next barrier has left this one and may have removed its mark.
        Path next = barrier(scope, number + 1);
        List<Integer> missing = new ArrayList<>();
        for (Entry member : members) {
            String name = Integer.toString(member.rank());
            if (!isMarked(barrier.resolve(name), member) && !isMarked(next.resolve(name), member)) {
                missing.add(member.rank());
            }
        }
        return missing;
    }

    private static boolean isMarked(Path file, Entry member) throws IOException {
        try {
            return Files.size(file) <= ENTRY_MAX
                    && new String(Files.readAllBytes(file), UTF_8).equals(member.mark());
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    /** Takes this process' mark of a barrier that everybody has left. */
    void forget(String scope, int number) throws IOException {
        if (number >= 0) {
            Path barrier = barrier(scope, number);
            Files.deleteIfExists(barrier.resolve(Integer.toString(identity.rank())));
            deleteIfEmpty(barrier);
        }
    }

    private static void deleteIfEmpty(Path directory) throws IOException {
        try {
            Files.deleteIfExists(directory);
        } catch (java.nio.file.DirectoryNotEmptyException e) {
            // Somebody else's mark is in it; the last one takes it away.
            return;
        }
    }

    /** The own entry goes; marks of the last barriers stay: others may still wait at them. */
    void close() {
        try {
            Path own = colourDirectory(identity.colour());
            Files.deleteIfExists(own.resolve(Integer.toString(identity.rank())));
        } catch (IOException e) {
            throw new JobGroupException("cannot remove the entry in " + directory + ": " + e, e);
        }
    }
}
