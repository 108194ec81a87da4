package dev.verbena.nessie.nnti;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A process that is connected to a transport of NNTI and sends it whatever it likes. */
final class Stranger implements TransportHandler, AutoCloseable {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    private final Transport transport;
    private final RegisteredRegion region;
    private final UnsafeBuffer bytes;
    private final List<Long> kept = new ArrayList<>();
    private long connection;
    private boolean isConnected;
    private boolean isBusy;
    private boolean isDeaf;

    Stranger(Transport transport) {
        this.transport = transport;
        this.region = transport.allocate(transport.limits().messageLengthMax(), 0);
        this.bytes = region.buffer(0, (int) region.length());
    }

    /** Starts to connect; {@link #isConnected} says when it is. */
    void connect(String url) {
        UnsafeBuffer nothing = new UnsafeBuffer(new byte[0]);
        connection = transport.connect(URI.create(url), nothing, 0, 0, 1, TIMEOUT_NS);
        assertThat(connection).isPositive();
    }

    void disconnect() {
        isConnected = false;
        transport.disconnect(connection);
    }

    boolean isConnected() {
        return isConnected;
    }

    /** Keeps what it gets from now on, so that nobody can send it anything after a while. */
    void takeNothing() {
        isDeaf = true;
    }

    /** Starts to send these bytes, as many as a message can have; false: not now. */
    boolean send(byte[] message) {
        int length = Math.min(message.length, bytes.capacity());
        if (!isBusy) {
            bytes.putBytes(0, message, 0, length);
            isBusy = transport.send(connection, region, 0, length, 0, 0) == Transport.ACCEPTED;
            return isBusy;
        }
        return false;
    }

    /** Starts to put with a notification; false: not now. */
    boolean put(RemoteDescriptor target, long at, long length, int tag) {
        isBusy =
                isBusy
                        || transport.putNotify(connection, region, 0, target, at, length, tag, 0, 0)
                                == Transport.ACCEPTED;
        return isBusy;
    }

    /** What it started has ended. */
    boolean isIdle() {
        return !isBusy;
    }

    void progress() {
        transport.poll(this, 64);
    }

    @Override
    public void onConnected(long which, long context) {
        isConnected = which == connection;
    }

    @Override
    public void onDisconnected(long which, long context) {
        isConnected &= which != connection;
    }

    @Override
    public void onPeerLost(long which, long context, String reason) {
        onDisconnected(which, context);
    }

    @Override
    public void onCompletion(long which, int operation, long context, int status, long value) {
        isBusy = false;
    }

    @Override
    public void onMessage(
            long which, long context, DirectBuffer buffer, int at, int length, long token) {
        if (isDeaf) {
            transport.retain(token);
            kept.add(token);
        }
    }

    @Override
    public void close() {
        progress();
        kept.forEach(transport::release);
        region.close();
        transport.close();
    }
}
