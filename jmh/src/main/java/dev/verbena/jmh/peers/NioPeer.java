package dev.verbena.jmh.peers;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * Plain Java NIO between two hosts: a ping-pong over a TCP connection that both ends poll without
 * blocking. Arguments: length, batches of 1,000 round trips, and on the measuring side the other
 * side's address.
 */
public final class NioPeer {
    private final SocketChannel channel;
    private final ByteBuffer buffer;

    private NioPeer(SocketChannel channel, int length) throws IOException {
        this.channel = channel;
        this.buffer = ByteBuffer.allocateDirect(length);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
    }

    private void send() throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private void receive() throws IOException {
        buffer.clear();
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the other side has gone");
            }
        }
    }

    /** Runs one side. */
    public static void main(String[] arguments) throws Exception {
        int length = Integer.parseInt(arguments[0]);
        PingPong pingPong = TwoHosts.pingPong(Integer.parseInt(arguments[1]));
        String host = arguments.length > 2 ? arguments[2] : null;
        try (SocketChannel channel = TwoHosts.join(host)) {
            NioPeer side = new NioPeer(channel, length);
            if (host != null) {
                pingPong.measure(
                        "nio_lat",
                        length,
                        () -> {
                            side.send();
                            side.receive();
                        });
                return;
            }
            for (long i = pingPong.roundTrips(); i > 0; i--) {
                side.receive();
                side.send();
            }
        }
    }
}
