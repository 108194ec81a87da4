package dev.verbena.cli.nessie;

import dev.verbena.cli.transfer.MpiProgram;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;

/** The same transfers by MPI alone. One thread. */
final class MpiYardstick {
    private static final String SOURCE = "mpi_yardstick.c";

    private MpiYardstick() {}

    /**
     * Compiles it.
     *
     * @return null: it is there; otherwise why not
     */
    static String compile(Path program) throws IOException, InterruptedException {
        try (InputStream text = MpiYardstick.class.getResourceAsStream(SOURCE)) {
            return MpiProgram.compile(text, program);
        }
    }

    /** Runs it with one client; prints MB/s. */
    static List<String> command(Path program, String method, int bytes, int requests, int trials) {
        return MpiProgram.command(
                program,
                2,
                List.of(
                        method,
                        Integer.toString(bytes),
                        Integer.toString(requests),
                        Integer.toString(trials)));
    }
}
