package dev.verbena.nsim.world;

import dev.verbena.agent.ByteStreams;
import java.util.ArrayDeque;

/** A port that a process listens on. */
final class StreamListener implements ByteStreams.Listener {
    final SimulatedProcess process;
    private final int port;
    final ArrayDeque<SimulatedStream> toAccept = new ArrayDeque<>();

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

    @Override
    public void close() {
        process.world.listeners.remove(key(process.host, port), this);
        while (!toAccept.isEmpty()) {
            toAccept.poll().close();
        }
    }
}
