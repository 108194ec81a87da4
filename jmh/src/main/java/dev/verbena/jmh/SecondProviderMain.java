package dev.verbena.jmh;

import dev.verbena.cli.VerbenaCommand;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.util.Arrays;

/**
 * Runs a command of {@code verbena} in a JVM in which another provider was warmed up before, so
 * that the compiler has seen two providers wherever code is shared. Arguments: the other scheme,
 * then the command line.
 */
public final class SecondProviderMain {
    private static final int ROUNDS = 200_000;
    private static final int LENGTH = 64;

    private SecondProviderMain() {}

    /** Runs. */
    public static void main(String[] arguments) {
        try (ConnectedPair pair = new ConnectedPair(arguments[0], 2 * LENGTH)) {
            warmUp(pair);
        }
        VerbenaCommand.main(Arrays.copyOfRange(arguments, 1, arguments.length));
    }

    private static void warmUp(ConnectedPair pair) {
        Transport transport = pair.initiator;
        TransportHandler handler = TransportHandler.IGNORE;
        for (int i = 0; i < ROUNDS; i++) {
            transport.put(pair.connection, pair.source, 0, pair.descriptor, 0, 8, i, 0);
            transport.get(pair.connection, pair.source, 0, pair.descriptor, 0, LENGTH, i, 0);
            transport.send(pair.connection, pair.source, 0, 8, i, 0);
            transport.poll(handler, 16);
        }
    }
}
