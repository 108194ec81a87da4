package dev.verbena.cli;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.agent.RendezvousServer;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.Termination;
import java.io.UncheckedIOException;
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
        sortOptions = false)
final class RendezvousCommand extends CliCommand {
    private static final long LOOK_MS = 1_000;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:0",
            converter = HostPort.Converter.class,
            description = "Port 0: any free one. Default: ${DEFAULT-VALUE}.")
    private HostPort listen;

    @Override
    public Integer call() throws InterruptedException {
        try (Termination termination = new Termination(10_000);
                RealEnvironment environment =
                        RealEnvironment.builder()
                                .application("rendezvous")
                                .errorHandler(Messages.to(err()))
                                .build();
                RendezvousServer server = launch(environment)) {
            say("tcp://" + new HostPort(listen.host(), server.port()));
            serve(termination, server);
            return 0;
        }
    }

    /** Until it is to end; fails when the server has ended by itself. */
    static void serve(Termination termination, RendezvousServer server)
            throws InterruptedException {
        while (!termination.await(LOOK_MS)) {
            if (!server.isAlive()) {
                throw new Messages.Failure(
                        "the rendezvous server has ended, see the error above; start it again");
            }
        }
    }

    private RendezvousServer launch(RealEnvironment environment) {
        try {
            return RendezvousServer.launch(environment, listen.host(), listen.port());
        } catch (UncheckedIOException e) {
            throw new Messages.Failure(e.getMessage());
        }
    }
}
