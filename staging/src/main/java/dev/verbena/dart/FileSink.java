package dev.verbena.dart;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.agent.StagingEvents;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.util.random.RandomGenerator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * Files on the server's own machine instead of a receiver elsewhere: a receiver that t3 runs beside
 * itself and reaches without a network, so that storing, acknowledging and going on after a crash
 * are the receiver's. Names begin with the client's number. Owned by t3.
 */
final class FileSink {
    private final LocalStreams streams = new LocalStreams();
    private final DartReceiver receiver;
    private final ProtocolAgent agent;

    /**
     * @throws RuntimeException if the directory cannot be used, naming it
     */
    FileSink(ServerShared shared) {
        DartServer.Context context = shared.context;
        DartReceiver.Context receiving =
                new DartReceiver.Context()
                        .environment(new Local(context.environment, streams))
                        .directory(context.sinkDirectory)
                        .handler(context.sinkHandler)
                        .namesOfClients();
        if (context.secret != null) {
            receiving.secret(context.secret);
        }
        receiver = DartReceiver.embed(receiving);
        agent = receiver.agent();
        receiver.onReady(
                () -> {
                    shared.wakeT3.run();
                    shared.wakeT1.run();
                });
    }

    ByteStreams streams() {
        return streams;
    }

    ProtocolAgent agent() {
        return agent;
    }

    int doWork() {
        try {
            return agent.doWork();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** The server's environment, with a listener that only the server reaches. */
    private static final class Local implements Environment {
        private final Environment inner;
        private final ByteStreams streams;

        Local(Environment inner, ByteStreams streams) {
            this.inner = inner;
            this.streams = streams;
        }

        @Override
        public ByteStreams streams() {
            return streams;
        }

        @Override
        public NanoClock nanoClock() {
            return inner.nanoClock();
        }

        @Override
        public EpochClock epochClock() {
            return inner.epochClock();
        }

        @Override
        public RandomGenerator random(String name) {
            return inner.random(name);
        }

        @Override
        public RandomGenerator unpredictable() {
            return inner.unpredictable();
        }

        @Override
        public Transport openTransport(String scheme, TransportContext context) {
            return inner.openTransport(scheme, context);
        }

        @Override
        public DurableStore store(String directory) {
            return inner.store(directory);
        }

        @Override
        public CountersManager counters() {
            return inner.counters();
        }

        @Override
        public String variable(String name) {
            return inner.variable(name);
        }

        @Override
        public StagingEvents events() {
            return inner.events();
        }

        @Override
        public ErrorHandler errorHandler() {
            return inner.errorHandler();
        }
    }
}
