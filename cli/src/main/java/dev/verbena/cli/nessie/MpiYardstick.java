package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/**
 * The same transfers by MPI alone: a program in C, compiled where there is Open MPI. One thread.
 */
final class MpiYardstick {
    private static final String SOURCE = "mpi_yardstick.c";
    private static final String FLAVOUR = ".openmpi";
    private static final String SECONDS_MAX = "100";

    private MpiYardstick() {}

    /**
     * Compiles it.
     *
     * @return null: it is there; otherwise why not
     */
    static String compile(Path program) throws IOException, InterruptedException {
        Path folder = program.toAbsolutePath().getParent();
        for (String tool : List.of("mpicc", "mpirun")) {
            if (!isThere(tool + FLAVOUR)) {
                return tool + FLAVOUR + " is not installed (Debian: libopenmpi-dev, openmpi-bin)";
            }
        }
        Path source = folder.resolve(SOURCE);
        try (InputStream text = MpiYardstick.class.getResourceAsStream(SOURCE)) {
            Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
        }
        Process process =
                new ProcessBuilder("mpicc" + FLAVOUR, "-O2", "-o", program.toString(), "" + source)
                        .redirectErrorStream(true)
                        .start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Files.delete(source);
        if (process.waitFor() != 0) {
            throw new Messages.Failure("mpicc%s: %s", FLAVOUR, said.strip());
        }
        return null;
    }

    private static boolean isThere(String tool) {
        for (String folder : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(folder, tool))) {
                return true;
            }
        }
        return false;
    }

    /** Runs it with one client; prints MB/s. */
    static List<String> command(Path program, String method, int bytes, int requests, int trials) {
        return List.of(
                "timeout",
                SECONDS_MAX,
                "env",
                "OMPI_ALLOW_RUN_AS_ROOT=1",
                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                "mpirun" + FLAVOUR,
                "--oversubscribe",
                "-n",
                "2",
                program.toAbsolutePath().toString(),
                method,
                Integer.toString(bytes),
                Integer.toString(requests),
                Integer.toString(trials));
    }
}
