package dev.verbena.cli.terminal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

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

    /** The kind of file system of a folder, as mount names it; {@link #UNKNOWN} in most chroots. */
    public static String fileSystem(Path folder) {
        try {
            return Files.getFileStore(folder).type();
        } catch (IOException e) {
            return UNKNOWN;
        }
    }
}
