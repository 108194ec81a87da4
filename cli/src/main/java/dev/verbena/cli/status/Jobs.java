package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** The counters files of this user's jobs, for the commands that show them. */
final class Jobs {
    private Jobs() {}

    /**
     * Folders of one job, or of all.
     *
     * @param job null: all
     */
    static List<Path> folders(String job) throws IOException {
        Path shm = CountersFile.defaultShmDirectory();
        if (job != null) {
            return List.of(CountersFile.jobDirectory(shm, job));
        }
        Path user = CountersFile.userDirectory(shm);
        List<Path> folders = new ArrayList<>();
        if (Files.isDirectory(user)) {
            try (var entries = Files.newDirectoryStream(user, Files::isDirectory)) {
                entries.forEach(folders::add);
            }
        }
        folders.sort(null);
        return folders;
    }

    /**
     * Reads every counters file. One that vanishes meanwhile is left out.
     *
     * @param file gets the job's name and what was read
     * @param unreadable gets the path and why
     */
    static void forEach(
            String job,
            BiConsumer<String, CountersFile> file,
            BiConsumer<Path, IOException> unreadable)
            throws IOException {
        for (Path folder : folders(job)) {
            for (Path path : CountersFile.list(folder)) {
                CountersFile read;
                try {
                    read = CountersFile.read(path);
                } catch (NoSuchFileException e) {
                    continue;
                } catch (IOException e) {
                    unreadable.accept(path, e);
                    continue;
                }
                file.accept(folder.getFileName().toString(), read);
            }
        }
    }

    /** How many errors a process has reported; what cannot be read counts as one. */
    static long errorCount(CountersFile file) {
        long[] errors = {0};
        try {
            file.errors((count, first, last, text) -> errors[0] += count);
        } catch (IOException e) {
            errors[0]++;
        }
        return errors[0];
    }

    /** What is shown above what a process has told. */
    static String title(CountersFile file, String job, boolean isAlive) {
        return "%s  process %d, job %s%s"
                .formatted(file.application(), file.pid(), job, isAlive ? "" : " (dead)");
    }

    /** "of job 'x'" for sentences; empty for all jobs. */
    static String named(String job) {
        return job == null ? "" : " of job '" + job + "'";
    }
}
