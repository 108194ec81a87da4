package dev.verbena.examples.pic;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of restart files: {@code restart-000040-0003.vpic} is step 40 of rank 3. */
public final class RestartNames {
    private static final Pattern NAME = Pattern.compile("restart-([0-9]{6,12})-([0-9]{4})\\.vpic");

    private RestartNames() {}

    /** Name of a file. */
    public static String of(long step, int rank) {
        return String.format("restart-%06d-%04d.vpic", step, rank);
    }

    /** Step that a name says; -1 if it is no restart file's name. */
    public static long step(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Long.parseLong(matcher.group(1)) : -1;
    }

    /** Rank that a name says; -1 if it is no restart file's name. */
    public static int rank(String name) {
        Matcher matcher = NAME.matcher(name);
        return matcher.matches() ? Integer.parseInt(matcher.group(2)) : -1;
    }

    /**
     * The step to continue from.
     *
     * @param path a restart file: its step; or a folder: the last step complete in it
     * @throws RestartFileException naming what is missing
     */
    public static long stepToContinue(Path path, int processCount) {
        if (!Files.exists(path)) {
            throw new RestartFileException(path + ": there is no such file or folder");
        }
        Path folder = Files.isDirectory(path) ? path : path.toAbsolutePath().getParent();
        TreeMap<Long, TreeSet<Integer>> found = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "restart-*.vpic")) {
            for (Path file : files) {
                Matcher matcher = NAME.matcher(file.getFileName().toString());
                if (matcher.matches()) {
                    found.computeIfAbsent(Long.valueOf(matcher.group(1)), s -> new TreeSet<>())
                            .add(Integer.valueOf(matcher.group(2)));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
        if (!Files.isDirectory(path)) {
            long step = step(path.getFileName().toString());
            if (step < 0) {
                throw new RestartFileException(path + ": the name is not of the form " + of(40, 3));
            }
            found.keySet().retainAll(java.util.Set.of(step));
        }
        for (Long step : found.descendingKeySet()) {
            if (isComplete(found.get(step), processCount)) {
                return step;
            }
        }
        throw new RestartFileException(
                ("%s: no step has the restart files of all %s processes; there " + "are %s")
                        .formatted(
                                path,
                                processCount,
                                found.isEmpty() ? "none at all" : found.toString()));
    }

    private static boolean isComplete(TreeSet<Integer> ranks, int processCount) {
        return ranks.size() >= processCount
                && ranks.headSet(processCount).size() == processCount
                && ranks.last() == processCount - 1;
    }
}
