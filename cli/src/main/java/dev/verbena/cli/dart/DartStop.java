package dev.verbena.cli.dart;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.dart.DartClient;
import dev.verbena.dart.DartException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code dart stop}: asks the servers of a configuration file to end. */
@Command(
        name = "stop",
        description = {
            "Stop the master of a configuration file and all its slaves: they take nothing new,",
            "pass on what they have, and end. Waits until the master has ended."
        },
        sortOptions = false)
public final class DartStop extends CliCommand {
    /** No program's processes have it. */
    private static final int APPLICATION = 2047;

    private static final long LOOK_AGAIN_MS = 50;

    @Mixin private ServiceOptions service;

    @Option(
            names = "--now",
            description = "Do not pass on anything: servers name what is lost, and exit with 1.")
    private boolean isNow;

    @Override
    public Integer call() throws Exception {
        service.check();
        Path configuration = service.configuration();
        if (!Files.exists(configuration)) {
            throw new Messages.WrongPath(configuration + ": there is no such file; nothing runs");
        }
        String scheme = service.scheme();
        long deadlineNs = System.nanoTime() + service.timeoutNs();
        try (RealEnvironment environment =
                RealEnvironment.builder().application("dart stop").errorHandler(e -> {}).build()) {
            ask(environment, scheme);
        }
        while (Files.exists(configuration)) {
            if (System.nanoTime() - deadlineNs >= 0) {
                throw new Messages.Failure(
                        "the servers know, but the master has not ended within %s s: is the"
                                + " receiver there? A TERM signal, given twice, ends it at once",
                        service.timeoutSeconds());
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_AGAIN_MS);
        }
        say("stopped");
        return 0;
    }

    private void ask(RealEnvironment environment, String scheme) {
        DartClient client =
                DartClient.connect(
                        new DartClient.Context()
                                .environment(environment)
                                .configurationFile(service.configuration().toString())
                                .transport(scheme)
                                .applicationId(APPLICATION)
                                .bootTimeoutNs(service.timeoutNs()));
        try (client) {
            if (isNow) {
                client.stopServersNow();
            } else {
                client.stopServers();
            }
        } catch (DartException e) {
            boolean hasEnded =
                    e.code() == DartException.Code.SERVER_UNREACHABLE
                            || e.code() == DartException.Code.SERVER_STOPPING;
            if (!hasEnded) {
                throw e;
            }
        }
    }
}
