package dev.verbena.staging;

import dev.verbena.agent.Await;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Two transports of one process, connected. One thread. */
public final class TransportPair implements AutoCloseable {
    private static final AtomicInteger NUMBERS = new AtomicInteger();

    /** The one that connects, and its handle. */
    public final Transport left;

    public final Transport right;
    public long leftConnection;
    public long rightConnection;

    /** Connects, each with context 0. */
    public TransportPair() {
        String job = "kit" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
        left = Transports.open("shm", new TransportContext().job(job));
        right = Transports.open("shm", new TransportContext().job(job));
        right.listen();
        left.connect(right.uri(), new UnsafeBuffer(), 0, 0, 0, 10_000_000_000L);
        Await.until("connected", this::isConnected);
    }

    private boolean isConnected() {
        poll(
                new TransportHandler() {
                    @Override
                    public void onConnected(long connection, long context) {
                        leftConnection = connection;
                    }
                },
                new TransportHandler() {
                    @Override
                    public void onConnectRequest(
                            long connection, URI peer, DirectBuffer data, int offset, int length) {
                        right.accept(connection, 0);
                    }

                    @Override
                    public void onConnected(long connection, long context) {
                        rightConnection = connection;
                    }
                });
        return leftConnection != 0 && rightConnection != 0;
    }

    /** One look at each. */
    public void poll(TransportHandler ofLeft, TransportHandler ofRight) {
        left.poll(ofLeft, 64);
        right.poll(ofRight, 64);
    }

    @Override
    public void close() {
        left.close();
        right.close();
    }
}
