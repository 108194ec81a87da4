package dev.verbena.nessie.service;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.Environment;
import dev.verbena.staging.RareReports;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/** Takes requests over TCP. Never waits. One thread. */
final class TcpListener implements AutoCloseable {
    private static final int CONNECTIONS_MAX = 128;

    private final ByteStreams.Listener listener;
    private final ArrayEngine engine;
    private final NanoClock clock;
    private final List<TcpConnection> connections = new ArrayList<>();
    private final RareReports reports;

    TcpListener(Environment environment, ArrayServerOptions options, ArrayEngine engine) {
        this.listener = environment.streams().listen(options.host(), options.port());
        this.engine = engine;
        this.clock = environment.nanoClock();
        this.reports = new RareReports(environment.errorHandler());
    }

    int port() {
        return listener.port();
    }

    /** Does what can be done now; work done. */
    int doWork() {
        long now = clock.nanoTime();
        ByteStream stream = listener.accept();
        int work = stream == null ? 0 : 1;
        if (stream != null && connections.size() == CONNECTIONS_MAX) {
            makeRoom(now);
        }
        if (stream != null && connections.size() == CONNECTIONS_MAX) {
            stream.close();
        } else if (stream != null) {
            connections.add(new TcpConnection(stream, engine, now));
        }
        for (int i = connections.size() - 1; i >= 0; i--) {
            work += connections.get(i).doWork(now);
            if (connections.get(i).isEnded) {
                connections.remove(i);
            }
        }
        return work;
    }

    /** Whether every request is answered. */
    boolean isIdle() {
        return connections.stream().noneMatch(TcpConnection::isServed);
    }

    /** Ends the connection that has been idle longest, if one is, for a newcomer. */
    private void makeRoom(long now) {
        Comparator<TcpConnection> byIdleTime = Comparator.comparingLong(c -> c.idleNs(now));
        TcpConnection idlest = Collections.max(connections, byIdleTime);
        boolean isIdle = idlest.idleNs(now) >= 0;
        String all = CONNECTIONS_MAX + " clients are connected over TCP: ";
        String what = isIdle ? "the longest idle one was cut off" : "another one was refused";
        reports.report(now, all + what, text -> new ArrayException(ArrayStatus.BUSY, text));
        if (isIdle) {
            idlest.close();
            connections.remove(idlest);
        }
    }

    @Override
    public void close() {
        connections.forEach(TcpConnection::close);
        listener.close();
    }
}
