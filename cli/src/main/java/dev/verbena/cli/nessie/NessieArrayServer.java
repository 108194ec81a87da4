package dev.verbena.cli.nessie;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.nessie.service.ArrayException;
import dev.verbena.nessie.service.ArrayServer;
import dev.verbena.nessie.service.ArrayServerOptions;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code nessie array-server}. */
@Command(
        name = "array-server",
        description = {
            "Serve arrays: programs put pieces of versions, and get any box of them.",
            "Runs until it is interrupted, or a client ends the servers."
        },
        sortOptions = false)
public final class NessieArrayServer extends ServerCommand {
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
            converter = HostPort.Converter.class,
            description =
                    "Serve TCP, too: one port for each server, from PORT on; 0: any that are free.")
    private HostPort listen;

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

    private ArrayServerOptions options;

    @Override
    public Integer call() throws Exception {
        options = options();
        return run(job, count);
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
        if (listen.port() + count - 1 > HostPort.PORT_MAX) {
            throw wrong("--listen %s: there are no %s ports from there on", listen, count);
        }
        return options.withDoor(listen.host(), listen.port());
    }

    @Override
    Served start(RealEnvironment environment, int place) {
        int port = options.port() > 0 ? options.port() + place : options.port();
        ArrayServerOptions own = options.withPlace(place, count).withDoor(options.host(), port);
        try {
            ArrayServer server =
                    ArrayServer.start(
                            environment,
                            Transports.open(scheme, new TransportContext().job(job)),
                            directory.resolve("server" + place).toString(),
                            own);
            String tcp =
                    server.port() < 0 ? "" : ", TCP " + new HostPort(own.host(), server.port());
            say("server %s of %s: %s%s".formatted(place, count, server.url(), tcp));
            return new Served(server.url(), server::exitCode, server);
        } catch (ArrayException e) {
            throw new Messages.Failure(e.getMessage());
        }
    }
}
