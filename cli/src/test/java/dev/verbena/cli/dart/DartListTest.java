package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code dart ls} of the folder of a receiver that runs. */
@Timeout(120)
class DartListTest {
    private static final int FILES = 300;
    private static final int LISTINGS = 100;

    @TempDir private Path folder;

    @Test
    void shouldListWhileFilesGetTheirNames() throws Exception {
        AtomicBoolean isEnding = new AtomicBoolean();
        Path stays = Files.write(folder.resolve("stays"), new byte[1]);
        for (int i = 0; i < FILES; i++) {
            Files.createDirectory(folder.resolve("run" + i));
            Files.write(folder.resolve("part" + i), new byte[1]);
        }
        CompletableFuture<Void> receiver =
                CompletableFuture.runAsync(
                        () -> {
                            while (!isEnding.get()) {
                                move("part", "file");
                                move("file", "part");
                            }
                        });
        try {
            for (int i = 0; i < LISTINGS; i++) {
                assertThat(DartList.entries(folder))
                        .anyMatch(entry -> stays.endsWith(entry.get("file").toString()));
            }
        } finally {
            isEnding.set(true);
            receiver.get();
        }
    }

    private void move(String from, String to) {
        try {
            for (int i = 0; i < FILES; i++) {
                Files.deleteIfExists(folder.resolve("run" + i));
                Files.move(
                        folder.resolve(from + i),
                        folder.resolve(to + i),
                        StandardCopyOption.ATOMIC_MOVE);
                Files.createDirectory(folder.resolve("run" + i));
            }
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
