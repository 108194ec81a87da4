package dev.verbena.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;

/**
 * A port of 127.0.0.1 that stays this test's: listeners of it come and go, and in between whoever
 * connects is refused. A socket that is bound with SO_REUSEADDR and does not listen keeps it: the
 * kernel gives the port to nobody who asks for any, and lets one listener that asks for it have it.
 */
public final class HeldPort implements AutoCloseable {
    private final Socket holder = new Socket();

    public HeldPort() {
        try {
            holder.setReuseAddress(true);
            holder.bind(new InetSocketAddress("127.0.0.1", 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public int port() {
        return holder.getLocalPort();
    }

    @Override
    public void close() {
        try {
            holder.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
