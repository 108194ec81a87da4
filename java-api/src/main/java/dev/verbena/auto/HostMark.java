package dev.verbena.auto;

import dev.verbena.agent.CountersFile;
import dev.verbena.transport.TransportException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/**
 * A random number in the shared memory of one user: who reads the same number there is in the same
 * shared memory, whatever hostname, boot id and address say. A file {@code .host-NUMBER} in the
 * user's folder holds it, one for each pid namespace, for {@code shm} tells peers apart by their
 * pids; it stays until the shared memory ends.
 */
final class HostMark {
    private static final String FILE = ".host-";
    private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");
    private static final int DIGITS = 8;

    private HostMark() {}

    /**
     * The number, as 8 hexadecimal digits; made if there is none.
     *
     * @param directory of shared memory, which has the user's folder
     * @throws TransportException if it can neither be read nor be made
     */
    static String of(Path directory) {
        Path folder = CountersFile.userDirectory(directory);
        Path file = folder.resolve(FILE + "any");
        try {
            if (Files.exists(PID_NAMESPACE)) {
                String namespace = Files.readSymbolicLink(PID_NAMESPACE).toString();
                file = folder.resolve(FILE + namespace.replaceAll("[^0-9]", ""));
            }
            return Files.exists(file) ? read(file) : make(folder, file);
        } catch (IOException e) {
            throw new TransportException(
                    "the mark of this host's shared memory, " + file + ": " + e.getMessage(), 0, e);
        }
    }

    /** Whole or not at all: it is written elsewhere, then gets its name unless there is one. */
    private static String make(Path folder, Path file) throws IOException {
        Path written =
                Files.createTempFile(
                        folder,
                        FILE,
                        "",
                        PosixFilePermissions.asFileAttribute(
                                PosixFilePermissions.fromString("rw-------")));
        try {
            Files.writeString(written, "%08x".formatted(new SecureRandom().nextInt()));
            Files.createLink(file, written);
        } catch (FileAlreadyExistsException e) {
            return read(file);
        } catch (UnsupportedOperationException e) {
            Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            Files.deleteIfExists(written);
        }
        return read(file);
    }

    private static String read(Path file) throws IOException {
        String mark = Files.readString(file, StandardCharsets.US_ASCII);
        if (!mark.matches("[0-9a-f]{" + DIGITS + "}")) {
            throw new IOException("it has no " + DIGITS + " hexadecimal digits; remove it");
        }
        return mark;
    }
}
