package dev.verbena.cli.nessie;

import dev.verbena.agent.JobGroup;
import dev.verbena.cli.terminal.OutputFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;

/** What clients did when: a line each, appended to a file. One thread. */
final class XferLog implements AutoCloseable {
    private final PrintWriter out;
    private int barriers;

    private XferLog(PrintWriter out) {
        this.out = out;
    }

    /**
     * Opens the file.
     *
     * @param file {@code %r} in it stands for the rank; null: nothing is written
     */
    static XferLog open(String file, int rank) {
        if (file == null) {
            return new XferLog(null);
        }
        Path path = Path.of(file.replace("%r", Integer.toString(rank)));
        try {
            return new XferLog(
                    new PrintWriter(
                            Files.newBufferedWriter(
                                    path, StandardOpenOption.CREATE, StandardOpenOption.APPEND)));
        } catch (IOException e) {
            throw OutputFolder.incomplete("--logfile", path, e);
        }
    }

    void say(String text) {
        if (out != null) {
            out.println(Instant.now() + " " + text);
            out.flush();
        }
    }

    /** Waits for the other processes; two of these enclose a trial. */
    void barrier(JobGroup group, long timeoutNs) {
        group.barrier(timeoutNs);
        say("trial %s %s".formatted(barriers / 2, barriers % 2 == 0 ? "begins" : "has ended"));
        barriers++;
    }

    @Override
    public void close() {
        if (out != null) {
            out.close();
        }
    }
}
