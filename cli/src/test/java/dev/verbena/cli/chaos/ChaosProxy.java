package dev.verbena.cli.chaos;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** A wire between servers and receiver that can be cut, stalled, and left half open. */
final class ChaosProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final List<Pair> pairs = new CopyOnWriteArrayList<>();
    private final AtomicLong cutAfter = new AtomicLong(Long.MAX_VALUE);
    private final AtomicLong stallAfter = new AtomicLong(Long.MAX_VALUE);
    private final AtomicInteger cuts = new AtomicInteger();
    private volatile int port;
    private volatile long stallMs;
    private volatile long stalledUntilMs;
    private volatile long holeUntilMs;
    private volatile boolean isClosed;

    ChaosProxy() throws IOException {
        listener = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        start(this::accept, "proxy-accept");
    }

    int port() {
        return listener.getLocalPort();
    }

    /** Where the receiver is; it has another port after each restart. */
    void target(int port) {
        this.port = port;
    }

    int target() {
        return port;
    }

    int cutCount() {
        return cuts.get();
    }

    /** Ends every connection with a reset. */
    void cut() {
        for (Pair pair : pairs) {
            pair.cut();
        }
    }

    /** Ends a connection in the middle of what it carries, this many bytes from now. */
    void cutAfter(long bytes) {
        cutAfter.set(bytes);
    }

    /** Nothing passes for a while, and nothing is said about it. */
    void stall(long ms) {
        stalledUntilMs = now() + ms;
    }

    /** As {@link #stall}, so many bytes from now. */
    void stallAfter(long bytes, long ms) {
        stallMs = ms;
        stallAfter.set(bytes);
    }

    /** Waits until what {@link #stallAfter} asked for has begun. */
    void awaitStall() throws InterruptedException {
        for (int i = 0; now() >= stalledUntilMs; i++) {
            if (i > 6_000) {
                throw new AssertionError("so many bytes do not pass");
            }
            Thread.sleep(10);
        }
    }

    /** Connections made for a while lead nowhere, and those that there are end. */
    void hole(long ms) {
        holeUntilMs = now() + ms;
        cut();
    }

    /** From now on everything passes. */
    void heal() {
        stalledUntilMs = 0;
        holeUntilMs = 0;
        cutAfter.set(Long.MAX_VALUE);
        for (Pair pair : pairs) {
            if (pair.back == null) {
                pair.cut();
            }
        }
    }

    private static long now() {
        return System.nanoTime() / 1_000_000;
    }

    private static void start(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        while (!isClosed) {
            Socket front = null;
            try {
                front = listener.accept();
                if (now() < holeUntilMs) {
                    pairs.add(new Pair(front, null));
                    continue;
                }
                Socket back = new Socket();
                back.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 2_000);
                Pair pair = new Pair(front, back);
                pairs.add(pair);
                start(() -> pump(pair, pair.front, pair.back), "proxy-forth");
                start(() -> pump(pair, pair.back, pair.front), "proxy-back");
            } catch (IOException e) {
                // The receiver is not there: the server learns it by the end of its connection.
                close(front);
            }
        }
    }

    private void pump(Pair pair, Socket from, Socket to) {
        byte[] buffer = new byte[32 * 1024];
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
                if (stallAfter.get() != Long.MAX_VALUE && stallAfter.addAndGet(-n) <= 0) {
                    stallAfter.set(Long.MAX_VALUE);
                    stall(stallMs);
                }
                while (now() < stalledUntilMs) {
                    Thread.sleep(5);
                }
                long left = cutAfter.getAndAdd(-n);
                if (left <= n) {
                    cutAfter.set(Long.MAX_VALUE);
                    out.write(buffer, 0, (int) Math.max(0, left));
                    break;
                }
                out.write(buffer, 0, n);
            }
        } catch (IOException e) {
            // One side ended; so does the other.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        pair.cut();
    }

    private static void close(Socket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // It is gone either way.
            }
        }
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        listener.close();
        cut();
    }

    /** One connection on both sides; no back: it leads nowhere. */
    private final class Pair {
        final Socket front;
        final Socket back;

        Pair(Socket front, Socket back) {
            this.front = front;
            this.back = back;
        }

        void cut() {
            if (pairs.remove(this)) {
                cuts.incrementAndGet();
                reset(front);
                reset(back);
            }
        }

        private void reset(Socket socket) {
            try {
                if (socket != null) {
                    socket.setSoLinger(true, 0);
                }
            } catch (IOException e) {
                // Ended already.
            }
            close(socket);
        }
    }
}
