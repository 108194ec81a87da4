package dev.verbena.dart.server;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.receiver.ReceiverEngine;
import dev.verbena.staging.LocalStreams;

/**
 * Files on the server's own machine instead of a receiver elsewhere: a receiver that t3 runs beside
 * itself and reaches without a network, so that storing, acknowledging and going on after a crash
 * are the receiver's. Names begin with the client's number. Owned by t3.
 */
final class FileSink {
    final LocalStreams streams = new LocalStreams();
    private final ReceiverEngine receiver;

    /**
     * @throws RuntimeException if the directory cannot be used, naming it
     */
    FileSink(ServerShared shared) {
        ServerSettings settings = shared.settings;
        receiver =
                new ReceiverEngine(
                        settings.sink().apply(new Local(settings.environment(), streams)));
        receiver.onReady(
                () -> {
                    shared.wakeT3();
                    shared.wakeT1();
                });
    }

    ProtocolAgent agent() {
        return receiver;
    }

    int doWork() {
        try {
            return receiver.doWork();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** The server's environment, with a listener that only the server reaches. */
    private static final class Local extends ForwardingEnvironment {
        private final ByteStreams streams;

        Local(Environment inner, ByteStreams streams) {
            super(inner);
            this.streams = streams;
        }

        @Override
        public ByteStreams streams() {
            return streams;
        }
    }
}
