package dev.verbena.cli.status;

import dev.verbena.agent.CountersFile;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code verbena status}. */
@Command(
        name = "status",
        description =
                "Show the live counters of this user's running processes, from shared memory.")
public final class StatusCommand extends CliCommand {
    @Mixin private JobOption of;

    @Option(names = "--all", description = "Counters that are 0, and processes that died, too.")
    private boolean isAll;

    @Override
    public Integer call() throws IOException {
        PrintWriter out = out();
        AtomicInteger shown = new AtomicInteger();
        Jobs.forEach(
                of.job(),
                (jobName, file) -> shown.addAndGet(show(out, jobName, file) ? 1 : 0),
                (path, error) -> {
                    out.println(path + ": " + Messages.of(error));
                    shown.incrementAndGet();
                });
        if (shown.get() == 0) {
            out.println("No running process" + Jobs.named(of.job()) + ".");
        }
        out.flush();
        return 0;
    }

    private boolean show(PrintWriter out, String jobName, CountersFile file) {
        boolean isAlive = file.isAlive();
        if (!isAll && !isAlive) {
            return false;
        }
        out.println(Jobs.title(file, jobName, isAlive));
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
                            out.printf("  %d times: %s%n", count, ErrorsCommand.firstLine(text)));
        } catch (IOException e) {
            out.println("  " + Messages.of(e));
        }
        return true;
    }
}
