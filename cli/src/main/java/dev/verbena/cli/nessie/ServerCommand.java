package dev.verbena.cli.nessie;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
import picocli.CommandLine.Option;

/**
 * Runs servers until all have ended, one has failed or it is interrupted, and names them in a file.
 */
abstract class ServerCommand extends CliCommand {
    private static final long LOOK_MS = 100;

    @Option(
            names = "--server-url-file",
            paramLabel = "FILE",
            required = true,
            defaultValue = "${env:NNTI_CONTACT_FILENAME}",
            description =
                    "Is written once all servers can be called: their number, their URLs. Default:"
                            + " $NNTI_CONTACT_FILENAME.")
    private Path urlFile;

    /**
     * A server that runs.
     *
     * @param exitCode null while it runs
     * @param closing ends it
     */
    record Served(String url, Supplier<Integer> exitCode, AutoCloseable closing) {}

    /** Runs so many servers. */
    final int run(String job, int count) throws Exception {
        List<Served> servers = new ArrayList<>();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(job)
                                .application("nessie " + spec.name())
                                .errorHandler(Messages.to(err()))
                                .build()) {
            try {
                for (int i = 0; i < count; i++) {
                    servers.add(start(environment, i));
                }
                OutputFolder.write("--server-url-file", urlFile, () -> publish(servers));
                while (!areEnded(servers)) {
                    if (termination.await(LOOK_MS)) {
                        return 0;
                    }
                }
                return servers.stream().mapToInt(each -> each.exitCode().get()).max().orElse(0);
            } finally {
                CloseHelper.quietCloseAll(servers.stream().map(Served::closing).toList());
            }
        }
    }

    /** Where one has failed the others are of no use: nobody has its part of what they serve. */
    private boolean areEnded(List<Served> servers) {
        boolean areEnded = true;
        for (Served server : servers) {
            Integer code = server.exitCode().get();
            if (code != null && code < 0) {
                throw new Messages.Failure(
                        "server %s has failed, and so all servers end", server.url());
            }
            areEnded &= code != null;
        }
        return areEnded;
    }

    abstract Served start(RealEnvironment environment, int place);

    /** Who reads finds no file or a complete one. */
    private void publish(List<Served> servers) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(Integer.toString(servers.size()));
        servers.forEach(server -> lines.add(server.url()));
        Path next = urlFile.resolveSibling(urlFile.getFileName() + ".next");
        Files.write(next, lines);
        Files.move(
                next, urlFile, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
