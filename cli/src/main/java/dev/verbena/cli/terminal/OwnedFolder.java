package dev.verbena.cli.terminal;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;

/**
 * Folders that commands need while they run. A mark in each says which process has made it: the
 * next command removes those of processes that were killed. Thread-safe.
 */
public final class OwnedFolder {
    private static final String NAME = "verbena-run-";
    private static final String MARK = "owner";

    /** Start times are known to a tick; the time of the boot that they count from may be off. */
    private static final long START_OFF_MS = 2_000;

    private OwnedFolder() {}

    /** A new folder of this process, which other users can neither enter nor list. */
    public static Path create(Path parent) throws IOException {
        ProcessHandle own = ProcessHandle.current();
        Path folder = createNew(Files.createDirectories(parent), NAME + own.pid());
        Files.writeString(folder.resolve(MARK), own.pid() + " " + startMs(own) + " " + place());
        return folder;
    }

    /** Where a process id means what it means here: this boot of this host, these processes. */
    private static String place() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
        } catch (IOException e) {
            return "unknown";
        }
    }

    /**
     * Anybody may have made one of this name where everybody may write: then with more behind it.
     */
    private static Path createNew(Path parent, String name) throws IOException {
        var mode =
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
        try {
            return Files.createDirectory(parent.resolve(name), mode);
        } catch (FileAlreadyExistsException e) {
            return Files.createTempDirectory(parent, name + "-", mode);
        }
    }

    /** A new folder that others may enter, but not list. */
    public static Path enterable(Path folder) throws IOException {
        Files.createDirectories(folder);
        return Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
    }

    private static long startMs(ProcessHandle process) {
        return process.info().startInstant().orElse(Instant.EPOCH).toEpochMilli();
    }

    /**
     * Removes the folders in this one that this user's processes have left that are gone. Those of
     * another host or container stay: from here nobody can tell whether their processes live.
     */
    public static void removeLeft(Path parent) {
        try (DirectoryStream<Path> found = Files.newDirectoryStream(parent, NAME + "*")) {
            for (Path folder : found) {
                removeIfLeft(folder);
            }
        } catch (IOException | DirectoryIteratorException e) {
            // They stay until the next command.
        }
    }

    private static void removeIfLeft(Path folder) {
        try {
            if (isLeft(folder)) {
                delete(folder);
            }
        } catch (IOException e) {
            // Another command removes the same, or it stays until the next one.
        }
    }

    private static boolean isLeft(Path folder) throws IOException {
        // Anybody may make a folder of this name where everybody may write.
        Path mark = folder.resolve(MARK);
        boolean isOwn =
                Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)
                        && Files.isRegularFile(mark, LinkOption.NOFOLLOW_LINKS)
                        && owner(folder).equals(System.getProperty("user.name"));
        if (!isOwn) {
            return false;
        }
        String[] words = Files.readString(mark).strip().split(" ");
        return words.length == 3
                && words[0].matches("[0-9]{1,18}")
                && words[1].matches("[0-9]{1,18}")
                && words[2].equals(place())
                && !isAlive(Long.parseLong(words[0]), Long.parseLong(words[1]));
    }

    private static String owner(Path path) throws IOException {
        return Files.getOwner(path, LinkOption.NOFOLLOW_LINKS).getName();
    }

    private static boolean isAlive(long pid, long startMs) {
        Optional<ProcessHandle> process = ProcessHandle.of(pid);
        return process.isPresent()
                && process.get().isAlive()
                && Math.abs(startMs(process.get()) - startMs) < START_OFF_MS;
    }

    /** Deletes a folder and what is in it; follows no links. */
    public static void delete(Path folder) throws IOException {
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes is)
                            throws IOException {
                        Files.deleteIfExists(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path left, IOException failure)
                            throws IOException {
                        Files.deleteIfExists(left);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFileFailed(Path file, IOException failure)
                            throws IOException {
                        // Deleted meanwhile, perhaps by another thread that ends this process.
                        return failure instanceof NoSuchFileException
                                ? FileVisitResult.CONTINUE
                                : super.visitFileFailed(file, failure);
                    }
                });
    }
}
