package dev.verbena.jmh;

import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;

/** Goes with all that is in it when it is closed, or when a signal ends the program. */
final class TemporaryFolder implements AutoCloseable {
    private static final int TRIES = 100;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final FileAttribute<?> OWN =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    final Path path;
    private final Thread hook = new Thread(this::delete, "temporary-folder");

    /** A new one of this user. */
    TemporaryFolder(Path parent, String prefix) throws IOException {
        path = parent.resolve(prefix + Long.toHexString(RANDOM.nextLong()));
        Runtime.getRuntime().addShutdownHook(hook); // from when it is there
        Files.createDirectory(path, OWN);
    }

    /** As above, where temporary files are. */
    TemporaryFolder(String prefix) throws IOException {
        this(Path.of(System.getProperty("java.io.tmpdir")), prefix);
    }

    /** After a signal others may still write into it: then once more. */
    private void delete() {
        for (int i = 0; i < TRIES && Files.exists(path); i++) {
            try {
                OwnedFolder.delete(path);
            } catch (IOException e) {
                continue; // A file has come or gone.
            }
        }
    }

    @Override
    public void close() {
        Termination.forget(hook);
        delete();
    }
}
