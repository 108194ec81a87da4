package dev.verbena.cli.experiment;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Plain TCP over loopback, to compare streaming with: two threads, blocking channels, memory of the
 * size of a server's buffers on one side and of a message on the other, which is filled from its
 * beginning to its end again and again. No checksum, no protocol, no get before it.
 */
final class TcpTwin {
    private static final int[] PIECES = {64 << 10, 256 << 10, 1 << 20};
    private static final int SOURCE_LENGTH = 12 << 20;
    private static final int MESSAGE_LENGTH = 4 << 20;

    private TcpTwin() {}

    /** MB/s with the length of a write that does best. */
    static double best(long bytes) throws IOException, InterruptedException {
        double best = 0;
        for (int piece : PIECES) {
            best = Math.max(best, rate(bytes, piece));
        }
        return best;
    }

    private static double rate(long bytes, int piece) throws IOException, InterruptedException {
        try (ServerSocketChannel listener = ServerSocketChannel.open()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            AtomicReference<IOException> failure = new AtomicReference<>();
            Thread reader = new Thread(() -> drain(listener, piece, failure), "tcp-twin");
            reader.start();
            double seconds;
            try (SocketChannel channel = SocketChannel.open(listener.getLocalAddress())) {
                ByteBuffer source = ByteBuffer.allocateDirect(SOURCE_LENGTH);
                long begin = System.nanoTime();
                for (long sent = 0; sent < bytes; ) {
                    int at = (int) (sent % SOURCE_LENGTH);
                    int length = (int) Math.min(piece, Math.min(SOURCE_LENGTH - at, bytes - sent));
                    source.limit(at + length).position(at);
                    while (source.hasRemaining()) {
                        sent += channel.write(source);
                    }
                }
                channel.shutdownOutput();
                // Its end is the receiver's word that it has everything.
                channel.read(ByteBuffer.allocate(1));
                seconds = (System.nanoTime() - begin) / 1e9;
            }
            reader.join();
            if (failure.get() != null) {
                throw failure.get();
            }
            return bytes / 1e6 / seconds;
        }
    }

    private static void drain(
            ServerSocketChannel listener, int piece, AtomicReference<IOException> failure) {
        try (SocketChannel channel = listener.accept()) {
            ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE_LENGTH);
            int at = 0;
            int n;
            do {
                message.limit(Math.min(at + piece, MESSAGE_LENGTH)).position(at);
                n = channel.read(message);
                at = (at + Math.max(n, 0)) % MESSAGE_LENGTH;
            } while (n >= 0);
        } catch (IOException e) {
            failure.set(e);
        }
    }
}
