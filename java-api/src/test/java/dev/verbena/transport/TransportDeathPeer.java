package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The other process of {@link TransportDeathContract}: connects, then sends and puts without end.
 */
final class TransportDeathPeer {
    private static final int LENGTH = 1 << 20;

    private TransportDeathPeer() {}

    /** Arguments: scheme, job, URI of the test. */
    public static void main(String[] arguments) {
        Transport transport =
                Transports.open(arguments[0], new TransportContext().job(arguments[1]));
        RegisteredRegion source = transport.allocate(LENGTH, 0);
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
                transport.connect(URI.create(arguments[2]), null, 0, 0, 1, 30_000_000_000L);
        while (true) {
            transport.send(connection, source, 0, 100, 1, 0);
            if (hasTarget[0]) {
                transport.put(connection, source, 0, target, 0, LENGTH, 2, 0);
                transport.putNotify(connection, source, 0, target, 0, 64, 3, 3, 0);
            }
            transport.poll(handler, 64);
        }
    }
}
