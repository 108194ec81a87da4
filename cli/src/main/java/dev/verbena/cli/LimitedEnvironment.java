package dev.verbena.cli;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.DurableStore;
import dev.verbena.agent.Environment;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.util.random.RandomGenerator;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.status.CountersManager;

/**
 * An environment whose accepted connections are read no faster than a rate: the network behind the
 * service node. What is not read stays in the sockets, and so pushes back, as a slow network does.
 */
final class LimitedEnvironment implements Environment {
    private final Environment inner;
    private final RateLimit limit;

    LimitedEnvironment(Environment inner, RateLimit limit) {
        this.inner = inner;
        this.limit = limit;
    }

    @Override
    public ByteStreams streams() {
        return new LimitedStreams(inner.streams());
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
    public ErrorHandler errorHandler() {
        return inner.errorHandler();
    }

    private final class LimitedStreams implements ByteStreams {
        private final ByteStreams streams;

        LimitedStreams(ByteStreams streams) {
            this.streams = streams;
        }

        @Override
        public ByteStream connect(String host, int port) {
            return streams.connect(host, port);
        }

        @Override
        public Listener listen(String host, int port) {
            Listener listener = streams.listen(host, port);
            return new Listener() {
                @Override
                public int port() {
                    return listener.port();
                }

                @Override
                public ByteStream accept() {
                    ByteStream accepted = listener.accept();
                    return accepted == null ? null : new LimitedStream(accepted);
                }

                @Override
                public void close() {
                    listener.close();
                }
            };
        }

        @Override
        public void onReady(Runnable wakeup) {
            streams.onReady(wakeup);
        }
    }

    private final class LimitedStream implements ByteStreams.ByteStream {
        private final ByteStreams.ByteStream stream;

        LimitedStream(ByteStreams.ByteStream stream) {
            this.stream = stream;
        }

        @Override
        public int state() {
            return stream.state();
        }

        @Override
        public String error() {
            return stream.error();
        }

        @Override
        public String peer() {
            return stream.peer();
        }

        @Override
        public int read(MutableDirectBuffer buffer, int offset, int length) {
            int allowed = limit.allowed(length, inner.nanoClock().nanoTime());
            if (allowed == 0 && length > 0) {
                return 0;
            }
            int n = stream.read(buffer, offset, allowed);
            limit.passed(n);
            return n;
        }

        @Override
        public int write(DirectBuffer buffer, int offset, int length) {
            return stream.write(buffer, offset, length);
        }

        @Override
        public void close() {
            stream.close();
        }
    }
}
