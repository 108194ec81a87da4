package dev.verbena.jmh.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/**
 * What the two processes of a measurement between hosts have in common ({@code ci/two-hosts}): the
 * one without an address listens and says so, the other connects and measures.
 */
final class TwoHosts {
    static final int PORT = 18_600;
    private static final int BATCH = 1000;

    private TwoHosts() {}

    /** A connection to the other side; without a host it is awaited. */
    static SocketChannel join(String host) throws IOException {
        if (host != null) {
            return SocketChannel.open(new InetSocketAddress(host, PORT));
        }
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getByName("0.0.0.0"), PORT), 1);
            System.out.println("ready");
            return listener.accept();
        }
    }

    /** Batches of 1,000 round trips. */
    static PingPong pingPong(int batches) {
        return new PingPong(batches, BATCH);
    }
}
