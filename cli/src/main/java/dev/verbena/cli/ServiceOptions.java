package dev.verbena.cli;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What every command of the service is told: which servers, by what transport, how patiently. */
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

    @Mixin private TransportOption transport;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description = "Longest wait for another process, 1 to 3600. Default: 30.")
    private int timeout;

    /** Throws if a value is out of range; called before anything is begun. */
    void check() {
        if (timeout < 1 || timeout > TIMEOUT_MAX) {
            throw new ParameterException(
                    command.commandLine(),
                    "--timeout " + timeout + " is outside 1 to " + TIMEOUT_MAX);
        }
    }

    /** The configuration file, absolute. */
    Path configuration() {
        return configuration.toAbsolutePath();
    }

    /** The transport's scheme; throws if it is unknown or cannot work here. */
    String scheme() {
        return transport.require(command);
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
