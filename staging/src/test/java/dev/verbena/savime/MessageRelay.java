package dev.verbena.savime;

import dev.verbena.savime.wire.StgType;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Passes on what one client and a server say over TCP; counts blocks, holds back SYNCs, and can cut
 * the connection, after which the client may come back.
 */
final class MessageRelay implements AutoCloseable {
    private static final int HEADER = 32;

    /** Lengths of the blocks that the client has sent. */
    final List<Integer> blocks = new CopyOnWriteArrayList<>();

    /** Each lets a DATASET_SYNC pass. */
    final Semaphore syncs = new Semaphore(1 << 20);

    /** How often the client has connected. */
    final AtomicInteger connects = new AtomicInteger();

    /** How often it was told that a dataset is there. */
    final AtomicInteger done = new AtomicInteger();

    /** Messages of this type are not passed on; 0: all are. */
    volatile int lostType;

    /** How many were not. */
    final AtomicInteger dropped = new AtomicInteger();

    private final ServerSocket listening;
    private final int port;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();

    MessageRelay(int port) throws IOException {
        this.port = port;
        listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        start(this::serve);
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void start(Work work) {
        Thread thread =
                new Thread(
                        () -> {
                            try {
                                work.run();
                            } catch (IOException e) {
                                // A side has closed its connection.
                            }
                        },
                        "message-relay");
        thread.setDaemon(true);
        thread.start();
    }

    String address() {
        return "127.0.0.1:" + listening.getLocalPort();
    }

    void cut() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        sockets.clear();
    }

    /** Cuts the connection that was made first for good; another one goes on. */
    void cutFirst() throws IOException {
        listening.close();
        sockets.remove(0).close();
        sockets.remove(0).close();
    }

    private void serve() throws IOException {
        while (true) {
            Socket client = listening.accept();
            sockets.add(client);
            Socket server = new Socket(InetAddress.getLoopbackAddress(), port);
            sockets.add(server);
            start(() -> passOn(server.getInputStream(), client.getOutputStream()));
            start(() -> passOn(client.getInputStream(), server.getOutputStream()));
            connects.incrementAndGet();
        }
    }

    private void passOn(InputStream from, OutputStream to) throws IOException {
        DataInputStream in = new DataInputStream(from);
        while (true) {
            byte[] header = new byte[HEADER];
            in.readFully(header);
            int length = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).getInt(8);
            byte[] message = java.util.Arrays.copyOf(header, length);
            in.readFully(message, HEADER, length - HEADER);
            if (header[5] == StgType.BLOCK_DATA) {
                blocks.add(ByteBuffer.wrap(message).order(ByteOrder.LITTLE_ENDIAN).getInt(48));
            } else if (header[5] == StgType.DATASET_SYNC) {
                syncs.acquireUninterruptibly();
            }
            if (header[5] == lostType) {
                dropped.incrementAndGet();
                continue;
            }
            to.write(message);
            if (header[5] == StgType.DATASET_DONE) {
                done.incrementAndGet();
            }
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        syncs.release(1 << 20);
        cut();
    }
}
