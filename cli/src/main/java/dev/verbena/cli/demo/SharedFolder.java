package dev.verbena.cli.demo;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.FieldPictures;
import dev.verbena.cli.terminal.ByteSize;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Where the processes of one run share memory: the usual folder if there is room, else a fresh one
 * on disk, which is said. Containers give /dev/shm 64 MiB by default.
 */
final class SharedFolder {
    private final Path path;
    private final boolean isOwn;

    private SharedFolder(Path path, boolean isOwn) {
        this.path = path;
        this.isOwn = isOwn;
    }

    /**
     * Chooses.
     *
     * @param needed bytes
     * @param others folders to put a fresh one into, best first
     * @param out gets a line if the usual one is too small, and how to enlarge it
     * @throws Messages.Failure naming folders, sizes and remedies if there is room nowhere
     */
    static SharedFolder choose(long needed, List<Path> others, PrintWriter out) throws IOException {
        return choose(CountersFile.defaultShmDirectory(), needed, others, out);
    }

    static SharedFolder choose(Path usual, long needed, List<Path> others, PrintWriter out)
            throws IOException {
        long usable = usableBytes(usual);
        if (usable >= needed) {
            return new SharedFolder(usual, false);
        }
        String shortage =
                String.format(
                        "%s has %s free, and this run shares up to %s of memory",
                        usual, ByteSize.text(usable), ByteSize.text(needed));
        for (Path other : others) {
            if (usableBytes(other) >= needed) {
                Path own = Files.createTempDirectory(other, "verbena-shm-");
                out.printf(
                        "%s: it is in %s instead, on disk, which may be slower.%n%s%n",
                        shortage, own, remedy());
                out.flush();
                return new SharedFolder(own, true);
            }
        }
        throw new Messages.Failure(
                shortage + "; there is no room in " + others + " either. " + remedy());
    }

    private static String remedy() {
        return "To mend it: --shm-size=1g for docker or podman; as root mount -o remount,size=1g"
                + " /dev/shm; or VERBENA_SHM_DIR=DIR with room.";
    }

    private static long usableBytes(Path folder) {
        return Files.isWritable(folder) ? folder.toFile().getUsableSpace() : 0;
    }

    /** For {@code VERBENA_SHM_DIR} of the processes. */
    Path path() {
        return path;
    }

    /** Removes what killed processes of a job left, and the folder if it was made for the run. */
    void remove(String job) throws IOException {
        removeFiles(CountersFile.jobDirectory(path, job));
        if (isOwn) {
            Files.deleteIfExists(CountersFile.userDirectory(path));
            Files.deleteIfExists(path);
        }
    }

    private static void removeFiles(Path folder) throws IOException {
        for (Path counters : CountersFile.list(folder)) {
            FieldPictures.remove(counters);
        }
        try (Stream<Path> files = Files.exists(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.deleteIfExists(folder);
    }
}
