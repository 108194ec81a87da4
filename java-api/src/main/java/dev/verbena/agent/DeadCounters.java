package dev.verbena.agent;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Counters files that killed processes left. The newest are kept, so that one can read what went
 * wrong; the rest would fill shared memory.
 */
final class DeadCounters {
    /** How many of a user are kept, over all jobs. */
    static final int KEPT = 8;

    private record Remains(Path path, FileTime modified) {}

    private DeadCounters() {}

    /** A link may lead to what is not of this user. */
    private static boolean isJob(Path path) {
        return Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    }

    /** Removes all but the newest. What cannot be read or removed is left: others may be at it. */
    static void removeOld(Path userDirectory) {
        List<Remains> found = new ArrayList<>();
        try (DirectoryStream<Path> jobs =
                Files.newDirectoryStream(userDirectory, DeadCounters::isJob)) {
            for (Path job : jobs) {
                for (Path path : CountersFile.list(job)) {
                    if (CountersFile.isOfTheDead(path)) {
                        found.add(new Remains(path, Files.getLastModifiedTime(path)));
                    }
                }
            }
            found.sort(Comparator.comparing(Remains::modified).reversed());
            for (int i = KEPT; i < found.size(); i++) {
                FieldPictures.remove(found.get(i).path());
                Files.deleteIfExists(found.get(i).path());
            }
        } catch (IOException | DirectoryIteratorException e) {
            // Another process cleans, or ends, at this moment: the next start tries again.
            return;
        }
    }
}
