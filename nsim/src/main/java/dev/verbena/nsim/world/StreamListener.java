package dev.verbena.nsim.world;

import dev.verbena.agent.ByteStreams;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** A port that a process listens on. */
final class StreamListener implements ByteStreams.Listener {
    final SimulatedProcess process;
    private final int port;
    final ArrayDeque<SimulatedStream> toAccept = new ArrayDeque<>();

    /** Ends of connections made here, to be looked at when a partition ends. */
    final List<SimulatedStream> ends = new ArrayList<>();

    StreamListener(SimulatedProcess process, int port) {
        this.process = process;
        this.port = port;
    }

    static String key(Host host, int port) {
        return host.name() + ":" + port;
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public ByteStreams.ByteStream accept() {
        return toAccept.poll();
    }

    /** A partition has ended, perhaps. */
    void retry() {
        ends.removeIf(SimulatedStream::isOver);
        for (SimulatedStream end : List.copyOf(ends)) {
            end.retry();
        }
    }

    @Override
    public void close() {
        process.world.listeners.remove(key(process.host, port), this);
        while (!toAccept.isEmpty()) {
            toAccept.poll().close();
        }
    }
}
