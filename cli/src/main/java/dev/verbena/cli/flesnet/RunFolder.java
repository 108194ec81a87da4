package dev.verbena.cli.flesnet;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The temporary folder of a {@code flesnet run}. Its name has the number of the process, so that
 * the next run removes what a killed one has left.
 */
final class RunFolder {
    private static final String PREFIX = "verbena-flesnet-";
    private static final Pattern NAME = Pattern.compile(PREFIX + "(\\d+)-.*");

    private RunFolder() {}

    /** Makes one, and removes those of this user's runs that are gone. */
    static Path create() throws IOException {
        Path folder =
                Files.createTempDirectory(PREFIX + ProcessHandle.current().pid() + "-")
                        .toAbsolutePath();
        try (DirectoryStream<Path> others =
                Files.newDirectoryStream(folder.getParent(), PREFIX + "*")) {
            for (Path other : others) {
                if (isLeft(other) && Files.getOwner(other).equals(Files.getOwner(folder))) {
                    delete(other);
                }
            }
        }
        return folder;
    }

    private static boolean isLeft(Path folder) {
        Matcher name = NAME.matcher(folder.getFileName().toString());
        return name.matches() && ProcessHandle.of(Long.parseLong(name.group(1))).isEmpty();
    }

    /** Removes one with all that it has; what another process has removed already is no error. */
    static void delete(Path folder) throws IOException {
        List<Path> all;
        try (var paths = Files.walk(folder)) {
            all = new ArrayList<>(paths.toList());
        }
        for (int i = all.size() - 1; i >= 0; i--) {
            Files.deleteIfExists(all.get(i));
        }
    }
}
