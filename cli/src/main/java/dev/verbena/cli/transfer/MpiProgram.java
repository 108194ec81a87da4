package dev.verbena.cli.transfer;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.ThisMachine;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** A program in C, compiled and run where there is Open MPI. One thread. */
public final class MpiProgram {
    private static final String FLAVOUR = ".openmpi";
    private static final String SECONDS_MAX = "100";

    private MpiProgram() {}

    /**
     * Compiles it.
     *
     * @param text source; not closed
     * @return null: it is there; otherwise why not
     * @throws Messages.Failure with what the compiler says
     */
    public static String compile(InputStream text, Path program)
            throws IOException, InterruptedException {
        for (String tool : List.of("mpicc", "mpirun")) {
            if (!ThisMachine.isOnPath(tool + FLAVOUR)) {
                return tool + FLAVOUR + " is not installed (Debian: libopenmpi-dev, openmpi-bin)";
            }
        }
        Path source = program.toAbsolutePath().resolveSibling(program.getFileName() + ".c");
        Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
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

    /** What runs it with so many processes, for 100 s at most. */
    public static List<String> command(Path program, int processes, List<String> arguments) {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "timeout",
                                SECONDS_MAX,
                                "env",
                                "OMPI_ALLOW_RUN_AS_ROOT=1",
                                "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                                "mpirun" + FLAVOUR,
                                "--oversubscribe",
                                "-n",
                                Integer.toString(processes),
                                program.toAbsolutePath().toString()));
        command.addAll(arguments);
        return command;
    }
}
