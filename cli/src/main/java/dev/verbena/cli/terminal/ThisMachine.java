package dev.verbena.cli.terminal;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/** What reports say of the machine that they were made on. */
public final class ThisMachine {
    /** What the system does not say. */
    public static final String UNKNOWN = "unknown";

    private ThisMachine() {}

    /** The processor's model; {@link #UNKNOWN} where the system does not say. */
    public static String processor() {
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(UNKNOWN);
        } catch (IOException | UncheckedIOException e) {
            return UNKNOWN;
        }
    }

    /** Whether a program can be started by its name. */
    public static boolean isOnPath(String program) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }

    /** The kind of file system of a folder, as mount names it; {@link #UNKNOWN} in most chroots. */
    public static String fileSystem(Path folder) {
        try {
            return Files.getFileStore(folder).type();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
