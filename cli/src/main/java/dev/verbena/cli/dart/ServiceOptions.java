package dev.verbena.cli.dart;

import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.TransportOption;
import dev.verbena.dart.DartServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of every command of the service: configuration file, transport, time limit. */
final class ServiceOptions {
    private static final int TIMEOUT_MAX = 3600;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            required = true,
            description = "Configuration file: written by the master, read by all others.")
    private Path configuration;

    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            defaultValue = "",
            description = {
                "Transport: ${COMPLETION-CANDIDATES}. Default: the one in the configuration",
                "file; a master's own default is " + DartServer.TRANSPORT_DEFAULT + "."
            },
            completionCandidates = TransportOption.Schemes.class)
    private String transport;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            description = "Longest wait for another process, 1 to 3600. Default: 30.")
    private int timeout = 30;

    /** Throws if a value is out of range; called before anything is begun. */
    void check() {
        CliCommand.inRange(command, "--timeout", timeout, 1, TIMEOUT_MAX);
        if (Files.isDirectory(configuration)) {
            throw wrongConfiguration("is a folder; the name of a file in one is needed");
        }
        Path folder = configuration().getParent();
        if (folder != null && !Files.isDirectory(folder)) {
            throw wrongConfiguration("there is no folder " + folder);
        }
    }

    private ParameterException wrongConfiguration(String why) {
        return CliCommand.wrong(command, "--config %s: %s", configuration, why);
    }

    /** The configuration file, absolute. */
    Path configuration() {
        return configuration.toAbsolutePath();
    }

    /** The transport's scheme; empty: not told; throws if it is unknown or cannot work here. */
    String scheme() {
        return transport.isEmpty() ? "" : TransportOption.require(command, transport);
    }

    int timeoutSeconds() {
        return timeout;
    }

    long timeoutMs() {
        return TimeUnit.SECONDS.toMillis(timeout);
    }

    long timeoutNs() {
        return TimeUnit.SECONDS.toNanos(timeout);
    }
}
