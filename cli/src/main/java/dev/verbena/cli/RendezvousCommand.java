package dev.verbena.cli;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.agent.RendezvousServer;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena rendezvous}: where processes of a job find each other without a directory. */
@Command(
        name = "rendezvous",
        description = {
            "Serve jobs whose processes share no directory, until a signal ends it.",
            "They are started with VERBENA_RENDEZVOUS=tcp://HOST:PORT, which is printed.",
            "Whoever can connect is served."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class RendezvousCommand extends CliCommand {
    private static final long LOOK_MS = 1_000;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:0",
            description = "Port 0: any free one. Default: ${DEFAULT-VALUE}.")
    private String listen;

    @Override
    public Integer call() throws InterruptedException {
        URI address = address();
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("rendezvous")
                                .errorHandler(Messages.to(err()))
                                .build();
                RendezvousServer server = launch(environment, address)) {
            say("tcp://%s:%d".formatted(address.getHost(), server.port()));
            while (!termination.await(LOOK_MS)) {
                continue;
            }
            return 0;
        }
    }

    private URI address() {
        try {
            URI address = new URI("tcp://" + listen);
            if (address.getHost() != null && address.getPort() >= 0) {
                inRange("--listen", address.getPort(), 0, 65535);
                return address;
            }
        } catch (URISyntaxException e) {
            // reported below, as a missing port is
        }
        throw wrong("--listen %s is not HOST:PORT", listen);
    }

    private static RendezvousServer launch(RealEnvironment environment, URI address) {
        try {
            String host = address.getHost().replaceAll("^\\[|]$", "");
            return RendezvousServer.launch(environment, host, address.getPort());
        } catch (UncheckedIOException e) {
            throw new Messages.Failure(e.getMessage());
        }
    }
}
