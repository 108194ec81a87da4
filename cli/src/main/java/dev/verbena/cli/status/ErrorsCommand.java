package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.FieldPictures;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena errors}: the distinct errors of running and of dead processes. */
@Command(
        name = "errors",
        description = {
            "Show the distinct errors of this user's processes, from shared memory: how often, first,"
                    + " last.",
            "Processes that were killed are shown too; --remove forgets them."
        })
public final class ErrorsCommand extends CliCommand {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

    @Mixin private JobOption of;

    @Option(names = "--stack", description = "Print stack traces too.")
    private boolean hasStack;

    @Option(names = "--remove", description = "Remove the files of dead processes afterwards.")
    private boolean isRemoving;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = out();
        AtomicInteger shown = new AtomicInteger();
        Jobs.forEach(
                of.job(),
                (name, file) -> shown.addAndGet(show(out, name, file)),
                (path, error) -> out.println(path + ": " + Messages.of(error)));
        if (shown.get() == 0) {
            out.println("No errors" + Jobs.named(of.job()) + ".");
        }
        out.flush();
        return 0;
    }

    private int show(PrintWriter out, String jobName, CountersFile file) {
        // Asked before anything is shown: what it reports while it dies stays for the next time.
        boolean isAlive = file.isAlive();
        int[] distinct = {0};
        try {
            file.errors(
                    (count, first, last, text) -> {
                        if (distinct[0]++ == 0) {
                            out.println(Jobs.title(file, jobName, isAlive));
                        }
                        out.printf(
                                "  %d times, first %s, last %s%n", count, time(first), time(last));
                        String shown = hasStack ? text.strip() : firstLine(text);
                        shown.lines().forEach(line -> out.println("    " + line));
                    });
        } catch (IOException e) {
            out.println(file.path() + ": " + Messages.of(e));
        }
        if (isRemoving && !isAlive) {
            remove(out, file.path());
        }
        return distinct[0];
    }

    private static void remove(PrintWriter out, Path path) {
        try {
            FieldPictures.remove(path);
            Files.deleteIfExists(path);
        } catch (IOException e) {
            out.println(path + ": " + Messages.of(e));
        }
    }

    private static String time(long epochMs) {
        return TIME.format(Instant.ofEpochMilli(epochMs));
    }

    /** What happened, without the stack. */
    static String firstLine(String text) {
        return text.lines().findFirst().orElse("an error");
    }
}
