package dev.verbena.cli.nessie;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.nessie.service.ArrayException;
import dev.verbena.nessie.service.ArrayServer;
import dev.verbena.nessie.service.ArrayServerOptions;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code nessie array-server}. */
@Command(
        name = "array-server",
        description = {
            "Serve arrays: programs put pieces of versions, and get any box of them.",
            "Runs until it is interrupted, or a client ends the servers."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class NessieArrayServer extends CliCommand {
    private static final long LOOK_MS = 100;

    @Option(
            names = "--server-url-file",
            paramLabel = "FILE",
            required = true,
            description = "Is written once all servers can be called: their number, their URLs.")
    private Path urlFile;

    @Option(
            names = "--directory",
            paramLabel = "DIR",
            required = true,
            description = "Sealed versions are kept there, and found there again.")
    private Path directory;

    @Option(
            names = "--num-servers",
            paramLabel = "N",
            defaultValue = "1",
            description = "Servers that arrays are spread over; default ${DEFAULT-VALUE}.")
    private int count;

    @Option(
            names = "--memory",
            paramLabel = "BYTES",
            defaultValue = "1073741824",
            description =
                    "Memory of a server for pieces, those beyond move to disk; default"
                            + " ${DEFAULT-VALUE}.")
    private long memory;

    @Option(
            names = "--keep-versions",
            paramLabel = "N",
            defaultValue = "0",
            description = "Sealed versions of an array that stay, the newest; 0: all.")
    private int versionsKept;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            description =
                    "Serve TCP, too: one port for each server, from PORT on; 0: any that are free.")
    private String listen;

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            description = "Transport: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.",
            completionCandidates = TransportOption.Schemes.class,
            defaultValue = "shm")
    private String scheme;

    @Option(
            names = "--job",
            paramLabel = "NAME",
            description = "Job of servers and clients; default ${DEFAULT-VALUE}.",
            defaultValue = "arrays")
    private String job;

    @Override
    public Integer call() throws Exception {
        ArrayServerOptions options = options();
        List<ArrayServer> servers = new ArrayList<>();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .job(job)
                                .application("nessie array-server")
                                .errorHandler(Messages.to(err()))
                                .build()) {
            try {
                for (int i = 0; i < count; i++) {
                    servers.add(start(environment, options, i));
                }
                OutputFolder.write("--server-url-file", urlFile, () -> publish(servers));
                while (servers.stream().anyMatch(server -> !server.hasEnded())) {
                    if (termination.await(LOOK_MS)) {
                        return 0;
                    }
                }
                return 0;
            } catch (ArrayException e) {
                throw new Messages.Failure(e.getMessage());
            } finally {
                CloseHelper.quietCloseAll(servers);
            }
        }
    }

    private ArrayServerOptions options() {
        TransportOption.require(spec, scheme);
        inRange("--num-servers", count, 1, 64);
        inRange("--keep-versions", versionsKept, 0, Integer.MAX_VALUE);
        if (memory < 1) {
            throw wrong("--memory %s is below 1", memory);
        }
        ArrayServerOptions options =
                ArrayServerOptions.DEFAULT.withMemory(memory).withVersionsKept(versionsKept);
        if (listen == null) {
            return options;
        }
        int colon = listen.lastIndexOf(':');
        String port = listen.substring(colon + 1);
        if (colon < 1 || !port.matches("[0-9]{1,5}") || Integer.parseInt(port) > 65_535 - count) {
            throw wrong("--listen %s is not HOST:PORT", listen);
        }
        return options.withDoor(listen.substring(0, colon), Integer.parseInt(port));
    }

    private ArrayServer start(RealEnvironment environment, ArrayServerOptions all, int place) {
        int port = all.port() > 0 ? all.port() + place : all.port();
        ArrayServer server =
                ArrayServer.start(
                        environment,
                        Transports.open(scheme, new TransportContext().job(job)),
                        directory.resolve("server" + place).toString(),
                        all.withPlace(place, count).withDoor(all.host(), port));
        String tcp = server.port() < 0 ? "" : ", TCP " + all.host() + ":" + server.port();
        say("server %s of %s: %s%s".formatted(place, count, server.url(), tcp));
        return server;
    }

    /** Who reads finds no file or a complete one. */
    private void publish(List<ArrayServer> servers) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(Integer.toString(servers.size()));
        servers.forEach(server -> lines.add(server.url()));
        Path next = urlFile.resolveSibling(urlFile.getFileName() + ".next");
        Files.write(next, lines);
        Files.move(
                next, urlFile, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
