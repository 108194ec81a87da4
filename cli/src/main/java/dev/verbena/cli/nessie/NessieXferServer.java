package dev.verbena.cli.nessie;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.nessie.NessieServer;
import dev.verbena.nessie.xfer.XferService;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code nessie xfer-server}. */
@Command(
        name = "xfer-server",
        description = "Serve transfers of arrays until a client ends each server.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class NessieXferServer extends CliCommand {
    private static final long LOOK_MS = 100;

    @Option(
            names = "--server-url-file",
            paramLabel = "FILE",
            required = true,
            description = "Is written once all servers can be called: their number, their URLs.")
    private Path urlFile;

    @Mixin private XferOptions options;

    @Override
    public Integer call() throws Exception {
        options.check(spec);
        List<NessieServer> servers = new ArrayList<>();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(options.job())
                                .application("nessie xfer-server")
                                .errorHandler(Messages.to(err()))
                                .build()) {
            try {
                for (int i = 0; i < options.servers; i++) {
                    servers.add(start(environment));
                }
                OutputFolder.write("--server-url-file", urlFile, () -> publish(servers));
                while (servers.stream().anyMatch(server -> !server.ended().isDone())) {
                    if (termination.await(LOOK_MS)) {
                        return 0;
                    }
                }
                return servers.stream().mapToInt(server -> server.ended().join()).max().orElse(0);
            } finally {
                CloseHelper.quietCloseAll(servers);
            }
        }
    }

    private NessieServer start(RealEnvironment environment) {
        return XferService.serve(
                        NessieServer.builder(environment, options.open(options.job()))
                                .options(options.ofServer()))
                .start();
    }

    /** Who reads finds no file or a complete one. */
    private void publish(List<NessieServer> servers) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(Integer.toString(servers.size()));
        servers.forEach(server -> lines.add(server.url()));
        Path next = urlFile.resolveSibling(urlFile.getFileName() + ".next");
        Files.write(next, lines);
        Files.move(
                next, urlFile, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
