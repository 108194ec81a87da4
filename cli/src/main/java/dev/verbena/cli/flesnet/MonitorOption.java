package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.CliCommand;
import java.io.IOException;
import java.net.MalformedURLException;
import org.agrona.ErrorHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code --monitor}, of the nodes of a run. */
final class MonitorOption {
    @Option(
            names = "--monitor",
            paramLabel = "SINK",
            description =
                    "A point each second, in InfluxDB's line protocol, to a file,"
                            + " influx1:HOST:PORT:DATABASE or http://...")
    private String sink;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    /**
     * Opens it.
     *
     * @throws ParameterException for what is no sink
     * @throws IOException if a file cannot be written
     */
    InfluxLines open(ErrorHandler errors) throws IOException {
        try {
            return new InfluxLines(sink, errors);
        } catch (IllegalArgumentException | MalformedURLException e) {
            throw CliCommand.wrong(command, "--monitor %s", e.getMessage());
        }
    }
}
