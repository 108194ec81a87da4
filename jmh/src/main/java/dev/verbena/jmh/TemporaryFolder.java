package dev.verbena.jmh;

import dev.verbena.cli.terminal.OwnedFolder;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Goes with all that is in it when it is closed, or when a signal ends the program. */
final class TemporaryFolder implements AutoCloseable {
    private static final int TRIES = 100;

    final Path path;
    private final Thread hook = new Thread(this::delete, "temporary-folder");

    /** Of a folder that is there. */
    TemporaryFolder(Path path) {
        this.path = path;
        Runtime.getRuntime().addShutdownHook(hook);
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
