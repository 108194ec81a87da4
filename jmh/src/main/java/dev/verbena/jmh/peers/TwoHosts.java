package dev.verbena.jmh.peers;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.Locale;

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

    /** One round trip. */
    interface RoundTrip {
        void run() throws IOException;
    }

    /** The first half warms up. Prints half the median of batches, in microseconds. */
    static void measure(String name, int batches, RoundTrip roundTrip) throws IOException {
        double[] halves = new double[batches];
        for (int pass = 0; pass < 2; pass++) {
            for (int batch = 0; batch < batches; batch++) {
                long start = System.nanoTime();
                for (int i = 0; i < BATCH; i++) {
                    roundTrip.run();
                }
                halves[batch] = (System.nanoTime() - start) / (2.0 * BATCH);
            }
        }
        Arrays.sort(halves);
        System.out.printf(
                Locale.ROOT, "{\"name\":\"%s\",\"us\":%.4f}%n", name, halves[batches / 2] / 1e3);
    }

    /** Round trips that {@link #measure} makes. */
    static long roundTrips(int batches) {
        return 2L * batches * BATCH;
    }
}
