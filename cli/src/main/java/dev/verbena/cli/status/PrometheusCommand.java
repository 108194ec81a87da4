package dev.verbena.cli.status;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.HostPort;
import dev.verbena.cli.terminal.Termination;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code verbena prometheus}. */
@Command(
        name = "prometheus",
        description = {
            "Serve the counters of this user's running processes to Prometheus, over HTTP, until"
                    + " Ctrl-C; programs that use the library, too. --prometheus with any other"
                    + " command serves its own and those of the processes that it starts."
        })
public final class PrometheusCommand extends CliCommand {
    private static final long LOOK_MS = 1000;

    @Parameters(
            paramLabel = "[HOST:]PORT",
            converter = HostPort.LoopbackConverter.class,
            description = "Where to listen; without a host on the loopback address.")
    private HostPort place;

    @Mixin private JobOption of;

    @Override
    public Integer call() throws IOException, InterruptedException {
        try (Termination termination = new Termination(1_000);
                PrometheusEndpoint endpoint =
                        PrometheusEndpoint.open(place, of.job(), pid -> true)) {
            say("metrics: " + endpoint.address());
            while (!termination.await(LOOK_MS)) {
                continue;
            }
        }
        return 0;
    }
}
