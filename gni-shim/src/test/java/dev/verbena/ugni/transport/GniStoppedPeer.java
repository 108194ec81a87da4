package dev.verbena.ugni.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The other process of {@link GniStoppedPeerTest}: sends without end, or puts to what it was told
 * of, so much at once that it is nearly always inside the other's memory.
 */
final class GniStoppedPeer {
    static final int LENGTH = 32 << 20;
    static final int MESSAGE_LENGTH = 1 << 20;

    private static final int CREDITS = 16;

    private GniStoppedPeer() {}

    static TransportContext context(String job) {
        return new TransportContext()
                .job(job)
                .messageLengthMax(MESSAGE_LENGTH)
                .creditsPerConnection(CREDITS)
                .receiveSlotCount(CREDITS)
                .connectionsMax(1);
    }

    /** Arguments: job, URI of the test, whether it puts. */
    public static void main(String[] arguments) {
        boolean isPutting = Boolean.parseBoolean(arguments[2]);
        Transport transport = Transports.open("gni", context(arguments[0]));
        RegisteredRegion source = transport.allocate(LENGTH, 0);
        source.buffer(0, LENGTH).setMemory(0, LENGTH, (byte) 1);
        RemoteDescriptor target = new RemoteDescriptor();
        boolean[] hasTarget = new boolean[1];
        TransportHandler handler =
                new TransportHandler() {
                    @Override
                    public void onMessage(
                            long connection,
                            long context,
                            DirectBuffer buffer,
                            int offset,
                            int length,
                            long token) {
                        target.decode(new UnsafeBuffer(buffer, offset, length), 0);
                        hasTarget[0] = true;
                    }
                };
        long connection =
                transport.connect(URI.create(arguments[1]), null, 0, 0, 1, 30_000_000_000L);
        while (true) {
            if (!isPutting) {
                transport.send(connection, source, 0, MESSAGE_LENGTH, 1, 0);
            } else if (hasTarget[0]) {
                transport.put(connection, source, 0, target, 0, LENGTH, 2, 0);
            }
            transport.poll(handler, 64);
        }
    }
}
