package dev.verbena.cli.nessie;

import dev.verbena.cli.terminal.ChildProcess;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Several processes of clients, each started with its rank. */
final class XferProcesses {
    private static final long LOOK_MS = 20;
    private static final long END_MS = 5_000;

    private XferProcesses() {}

    /**
     * Runs them to their end.
     *
     * @param folder where they find each other
     * @param words the command of each
     * @return the table that the first of them wrote
     * @throws Messages.Failure naming the one that failed
     */
    static List<String> run(Termination termination, int count, Path folder, List<String> words)
            throws IOException, InterruptedException {
        Path result = folder.resolve("result");
        List<ChildProcess> children = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                children.add(start(i, count, folder, result, words));
            }
            for (ChildProcess child : children) {
                while (!child.waitFor(LOOK_MS)) {
                    requireGood(children);
                    if (termination.await(1)) {
                        throw new Messages.Failure("ended before the transfers");
                    }
                }
            }
            requireGood(children);
            return Files.readAllLines(result);
        } finally {
            children.forEach(child -> child.end(END_MS));
        }
    }

    private static ChildProcess start(
            int rank, int count, Path folder, Path result, List<String> words) {
        List<String> command = new ArrayList<>(words);
        command.add("--result-file");
        command.add(rank == 0 ? result.toString() : folder.resolve("unused").toString());
        return ChildProcess.start(
                "xfer " + rank,
                null,
                Map.of(),
                List.of(
                        "-Xmx512m",
                        "-Dverbena.rank=" + rank,
                        "-Dverbena.size=" + count,
                        "-Dverbena.job=xfer" + ProcessHandle.current().pid(),
                        "-Dverbena.app=xfer",
                        "-Dverbena.rendezvous=" + folder.resolve("rendezvous")),
                command,
                line -> {});
    }

    private static void requireGood(List<ChildProcess> children) {
        for (ChildProcess child : children) {
            if (!child.isAlive() && child.exitCode() != 0) {
                throw new Messages.Failure(child.exitSummary());
            }
        }
    }
}
