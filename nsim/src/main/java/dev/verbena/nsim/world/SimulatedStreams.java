package dev.verbena.nsim.world;

import dev.verbena.agent.ByteStreams;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/** The byte streams of a process. */
final class SimulatedStreams implements ByteStreams {
    private static final int FIRST_FREE_PORT = 30_000;

    private final SimulatedProcess process;
    private final List<SimulatedStream> open = new ArrayList<>();
    private final List<StreamListener> listeners = new ArrayList<>();
    private Runnable ready = () -> {};

    SimulatedStreams(SimulatedProcess process) {
        this.process = process;
    }

    @Override
    public ByteStream connect(String host, int port) {
        if (port < 1 || port > 65_535) {
            throw new IllegalArgumentException("port " + port + " is outside 1 to 65535");
        }
        World world = process.world;
        Host target = host.startsWith("127.") ? process.host : world.knownHost(host);
        SimulatedStream mine = made(new SimulatedStream(process, host + ":" + port));
        if (target == null) {
            mine.fail("connect to " + host + ":" + port + ": unknown host");
            return mine;
        }
        mine.connect(target, port);
        return mine;
    }

    SimulatedStream made(SimulatedStream stream) {
        open.removeIf(SimulatedStream::isOver);
        open.add(stream);
        return stream;
    }

    @Override
    public Listener listen(String host, int wanted) {
        World world = process.world;
        int port = wanted;
        while (port == 0 || world.listeners.containsKey(StreamListener.key(process.host, port))) {
            if (wanted != 0) {
                throw new UncheckedIOException(
                        new IOException("port " + wanted + " of " + process.host + " is taken"));
            }
            port = port == 0 ? FIRST_FREE_PORT : port + 1;
        }
        StreamListener listener = new StreamListener(process, port);
        world.listeners.put(StreamListener.key(process.host, port), listener);
        listeners.add(listener);
        return listener;
    }

    @Override
    public AutoCloseable onReady(Runnable wakeup) {
        ready = wakeup;
        return () -> {
            if (ready == wakeup) {
                ready = () -> {};
            }
        };
    }

    void isReady() {
        if (!process.isDead) {
            ready.run();
            process.wakeup();
        }
    }

    /** The process has ended: its kernel tells the others, unless the whole host is gone. */
    void end(boolean isHostDown) {
        listeners.forEach(
                listener ->
                        process.world.listeners.remove(
                                StreamListener.key(process.host, listener.port()), listener));
        for (SimulatedStream stream : open) {
            if (isHostDown) {
                stream.vanish();
            } else {
                stream.reset();
            }
        }
        open.clear();
    }
}
