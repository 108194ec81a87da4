package dev.verbena.examples.cluster;

import dev.verbena.dart.TicketState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A rank's checkpoint: a file with the name of each field that the receiver has stored. Messages of
 * one process are confirmed in their order, so the number of lines says where to go on.
 */
final class ConfirmedFields {
    private final Path file;

    ConfirmedFields(Path file) {
        this.file = file;
    }

    /** Fields confirmed so far, also to an earlier process of this rank. */
    int count() {
        try {
            return Files.exists(file) ? Files.readAllLines(file).size() : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * @throws IllegalStateException if the field was not stored
     */
    void add(String name, TicketState state) {
        if (state != TicketState.STREAMED) {
            throw new IllegalStateException(name + " was not stored: " + state);
        }
        try {
            Files.writeString(
                    file, name + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
