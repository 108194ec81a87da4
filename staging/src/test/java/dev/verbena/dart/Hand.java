package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A transport played by hand. */
public final class Hand implements TransportHandler, AutoCloseable {
    public final Transport transport;
    public final UnsafeBuffer last = new UnsafeBuffer(new byte[2048]);
    public final RegisteredRegion region;
    public int lastLength;
    public int messages;
    public int completions;
    public int lastStatus = -1;
    public long connection;
    public boolean isConnected;

    /** Offered connections are left waiting. */
    public boolean isHesitating;

    public long offered;

    public Hand(DartWorld world) {
        transport =
                world.environment.openTransport(
                        world.scheme, new TransportContext().job(world.job).messageLengthMax(1152));
        transport.listen();
        region = transport.allocate(1 << 16, 0);
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer data, int offset, int length) {
        offered = connection;
        if (!isHesitating) {
            transport.accept(connection, 0);
        }
    }

    @Override
    public void onConnected(long connection, long context) {
        this.connection = connection;
        isConnected = true;
    }

    @Override
    public void onDisconnected(long connection, long context) {
        isConnected = false;
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        isConnected = false;
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        last.putBytes(0, buffer, offset, length);
        lastLength = length;
        messages++;
    }

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        completions++;
        lastStatus = status;
    }

    public void send(UnsafeBuffer record) {
        assertThat(isSent(record)).isTrue();
    }

    public void send(UnsafeBuffer record, int length) {
        region.buffer(0, length).putBytes(0, record, 0, length);
        assertThat(transport.send(connection, region, 0, length, 0, 0)).isZero();
    }

    public boolean isSent(UnsafeBuffer record) {
        region.buffer(0, 128).putBytes(0, record, 0, 128);
        return transport.send(connection, region, 0, 128, 0, 0) == Transport.ACCEPTED;
    }

    @Override
    public void close() {
        region.close();
        transport.close();
    }
}
