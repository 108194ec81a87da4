package dev.verbena.cli;

import dev.verbena.agent.CountersFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code verbena status}. */
@Command(
        name = "status",
        description =
                "Show the live counters of this user's running processes, from shared memory.",
        mixinStandardHelpOptions = true)
final class StatusCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(
            names = "--job",
            paramLabel = "JOB",
            description = "Only processes of this job. Default: of all jobs.")
    private String job;

    @Option(names = "--all", description = "Counters that are 0, and processes that died, too.")
    private boolean isAll;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        int shown = 0;
        for (Path folder : jobFolders()) {
            for (Path path : CountersFile.list(folder)) {
                shown += show(out, folder.getFileName().toString(), path) ? 1 : 0;
            }
        }
        if (shown == 0) {
            out.println("No running process" + (job == null ? "." : " of job '" + job + "'."));
        }
        out.flush();
        return 0;
    }

    private List<Path> jobFolders() throws IOException {
        Path shm = CountersFile.defaultShmDirectory();
        if (job != null) {
            if (!job.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")) {
                throw new Messages.Failure(
                        "--job '" + job + "': letters, digits, dots, dashes, underscores");
            }
            return List.of(CountersFile.jobDirectory(shm, job));
        }
        Path user = CountersFile.userDirectory(shm);
        if (!Files.isDirectory(user)) {
            return List.of();
        }
        List<Path> folders = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(user, Files::isDirectory)) {
            entries.forEach(folders::add);
        }
        folders.sort(null);
        return folders;
    }

    private boolean show(PrintWriter out, String jobName, Path path) {
        CountersFile file;
        try {
            file = CountersFile.read(path);
        } catch (java.nio.file.NoSuchFileException e) {
            return false;
        } catch (IOException e) {
            out.println(path + ": " + Messages.of(e));
            return true;
        }
        boolean isAlive = file.isAlive();
        if (!isAlive && !isAll) {
            return false;
        }
        out.printf(
                "%s  process %d, job %s%s%n",
                file.application(), file.pid(), jobName, isAlive ? "" : " (dead)");
        file.counters()
                .forEach(
                        (value, id, label) -> {
                            if (value != 0 || isAll) {
                                out.printf("  %,16d  %s%n", value, label);
                            }
                        });
        try {
            file.errors(
                    (count, first, last, text) ->
                            out.printf(
                                    "  %d times: %s%n",
                                    count, text.lines().findFirst().orElse("an error")));
        } catch (IOException e) {
            out.println("  " + Messages.of(e));
        }
        return true;
    }
}
