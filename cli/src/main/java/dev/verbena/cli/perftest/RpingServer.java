package dev.verbena.cli.perftest;

import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.ConnectionEventType;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;

/** The server of {@code rping}, for one client. */
final class RpingServer {
    private static final int BACKLOG = 3;
    private static final int BUFFER = 0;

    private RpingServer() {}

    static RpingResult serve(InetSocketAddress at, int size, long count, long timeoutNs) {
        try (ConnectionChannel channel = ConnectionChannel.open();
                ConnectionIdentifier listener = channel.createIdentifier(PortSpace.TCP)) {
            listener.bind(at);
            listener.listen(BACKLOG);
            try (ConnectionIdentifier client = listener.awaitRequest(timeoutNs).identifier();
                    RpingEndpoint end = new RpingEndpoint(client, size, timeoutNs)) {
                client.accept(end.queue, RpingEndpoint.connection());
                client.await(ConnectionEventType.ESTABLISHED, timeoutNs);
                RpingResult.Times times = new RpingResult.Times();
                while (times.count() < count && answer(end, size, times)) {
                    // the next one
                }
                RpingResult result = end.result(times);
                end.disconnect();
                return result;
            }
        }
    }

    /** One ping; false if the client has gone before it. */
    private static boolean answer(RpingEndpoint end, int size, RpingResult.Times times) {
        int message = end.awaitMessage();
        if (message < 0) {
            return false;
        }
        long beganNs = System.nanoTime();
        int length = checkedLength(end.lengthAt(message), size);
        end.read(BUFFER, length, end.addressAt(message), end.keyAt(message));
        end.announce(0, 0, 0);
        message = end.awaitMessage();
        if (message < 0) {
            throw new IllegalStateException("the client ended the connection within a ping");
        }
        int room = checkedLength(end.lengthAt(message), size);
        end.write(BUFFER, Math.min(length, room), end.addressAt(message), end.keyAt(message));
        end.announce(0, 0, 0);
        times.add(System.nanoTime() - beganNs);
        return true;
    }

    private static int checkedLength(int length, int size) {
        if (length < 1 || length > size) {
            throw new IllegalStateException(
                    ("the client announces pings of %s bytes, here they have %s; "
                                    + "give both the same --size")
                            .formatted(Integer.toUnsignedString(length), size));
        }
        return length;
    }
}
