package dev.verbena.cli.perftest;

import dev.verbena.verbs.ConnectionChannel;
import dev.verbena.verbs.ConnectionEventType;
import dev.verbena.verbs.ConnectionIdentifier;
import dev.verbena.verbs.PortSpace;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.agrona.concurrent.UnsafeBuffer;

/** The client of {@code rping}. */
final class RpingClient {
    private static final int SOURCE = 0;
    private static final int SINK = 1;

    /**
     * Printable characters, from '!' on: C's server takes a ping for text that ends with a zero.
     */
    private static final int CHARACTERS = 94;

    private RpingClient() {}

    static RpingResult ping(
            InetSocketAddress server, int size, long count, boolean isVerifying, long timeoutNs) {
        try (ConnectionChannel channel = ConnectionChannel.open();
                ConnectionIdentifier identifier = channel.createIdentifier(PortSpace.TCP)) {
            identifier.resolve(server, timeoutNs);
            try (RpingEndpoint end = new RpingEndpoint(identifier, size, timeoutNs)) {
                identifier.connect(end.queue, RpingEndpoint.connection());
                identifier.await(ConnectionEventType.ESTABLISHED, timeoutNs);
                RpingResult.Times times = new RpingResult.Times();
                for (long i = 0; i < count; i++) {
                    ping(end, size, i, isVerifying, times);
                }
                RpingResult result = end.result(times);
                end.disconnect();
                return result;
            }
        }
    }

    private static void ping(
            RpingEndpoint end,
            int size,
            long number,
            boolean isVerifying,
            RpingResult.Times times) {
        UnsafeBuffer source = end.region.buffer(end.offset(SOURCE), size);
        UnsafeBuffer sink = end.region.buffer(end.offset(SINK), size);
        fill(source, size, number);
        sink.setMemory(0, size, (byte) 0xff);
        long beganNs = System.nanoTime();
        int key = end.region.remoteKey();
        end.announce(end.region.remoteAddress(end.offset(SOURCE)), key, size);
        await(end, number);
        end.announce(end.region.remoteAddress(end.offset(SINK)), key, size);
        await(end, number);
        times.add(System.nanoTime() - beganNs);
        if (isVerifying) {
            compare(source, sink, size, number);
        }
    }

    private static void await(RpingEndpoint end, long number) {
        if (end.awaitMessage() < 0) {
            throw new IllegalStateException("the server ended the connection in ping " + number);
        }
    }

    private static void fill(UnsafeBuffer buffer, int size, long number) {
        byte[] head = ("verbena-ping-" + number + ": ").getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < size - 1; i++) {
            byte next = i < head.length ? head[i] : (byte) ('!' + (i * 7L + number) % CHARACTERS);
            buffer.putByte(i, next);
        }
        buffer.putByte(size - 1, (byte) 0);
    }

    private static void compare(UnsafeBuffer sent, UnsafeBuffer back, int size, long number) {
        for (int i = 0; i < size; i++) {
            if (sent.getByte(i) != back.getByte(i)) {
                throw new IllegalStateException(
                        "byte %s of ping %s came back as %s, not as %s"
                                .formatted(i, number, back.getByte(i), sent.getByte(i)));
            }
        }
    }
}
