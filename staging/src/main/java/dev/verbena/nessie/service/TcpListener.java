package dev.verbena.nessie.service;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.ByteStreams.ByteStream;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/** Takes requests over TCP. Never waits. One thread. */
final class TcpListener implements AutoCloseable {
    private static final int CONNECTIONS_MAX = 128;

    private final ByteStreams.Listener listener;
    private final ArrayEngine engine;
    private final NanoClock clock;
    private final List<TcpConnection> connections = new ArrayList<>();

    TcpListener(
            ByteStreams streams, ArrayServerOptions options, ArrayEngine engine, NanoClock clock) {
        this.listener = streams.listen(options.host(), options.port());
        this.engine = engine;
        this.clock = clock;
    }

    int port() {
        return listener.port();
    }

    /** Does what can be done now; work done. */
    int doWork() {
        int work = 0;
        ByteStream stream = listener.accept();
        if (stream != null) {
            work++;
            accept(stream);
        }
        for (int i = connections.size() - 1; i >= 0; i--) {
            TcpConnection connection = connections.get(i);
            work += connection.doWork(clock.nanoTime());
            if (connection.isEnded()) {
                connections.remove(i);
                connection.close();
            }
        }
        return work;
    }

    private void accept(ByteStream stream) {
        if (connections.size() == CONNECTIONS_MAX) {
            stream.close();
        } else {
            connections.add(new TcpConnection(stream, engine, clock.nanoTime()));
        }
    }

    @Override
    public void close() {
        connections.forEach(TcpConnection::close);
        listener.close();
    }
}
