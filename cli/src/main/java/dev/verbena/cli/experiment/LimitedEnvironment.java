package dev.verbena.cli.experiment;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.Environment;
import dev.verbena.agent.ForwardingEnvironment;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * An environment whose accepted connections are read no faster than a rate: the network behind the
 * service node. What is not read stays in the sockets, and so pushes back, as a slow network does.
 */
final class LimitedEnvironment extends ForwardingEnvironment {
    private final NanoClock clock;
    private final RateLimit limit;

    LimitedEnvironment(Environment inner, RateLimit limit) {
        super(inner);
        this.clock = inner.nanoClock();
        this.limit = limit;
    }

    @Override
    public ByteStreams streams() {
        return new LimitedStreams(super.streams());
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
        public AutoCloseable onReady(Runnable wakeup) {
            return streams.onReady(wakeup);
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
            int allowed = limit.allowed(length, clock.nanoTime());
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
