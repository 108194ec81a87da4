package dev.verbena.dart;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** A relay between servers and a receiver whose connections a test can cut. */
final class CutProxy implements AutoCloseable {
    private final ServerSocket listener;
    private final int target;
    private final List<Socket> sockets = new ArrayList<>();
    private final AtomicLong backBytes = new AtomicLong();

    /** Cuts whenever this many bytes have come back from the receiver; 0: never by itself. */
    volatile long cutEvery;

    volatile int cuts;

    CutProxy(int target) throws IOException {
        this.target = target;
        this.listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        daemon(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    private static void daemon(Runnable run) {
        Thread thread = new Thread(run, "cut-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private void accept() {
        try {
            while (true) {
                Socket near = listener.accept();
                Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
                synchronized (sockets) {
                    sockets.add(near);
                    sockets.add(far);
                }
                daemon(() -> copy(near, far, false));
                daemon(() -> copy(far, near, true));
            }
        } catch (IOException e) {
            // The test is over, or there is nobody behind: the server tries again.
            if (!listener.isClosed()) {
                daemon(this::accept);
            }
        }
    }

    private void copy(Socket from, Socket to, boolean isBack) {
        byte[] bytes = new byte[8192];
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            int n;
            while ((n = in.read(bytes)) > 0) {
                out.write(bytes, 0, n);
                long limit = cutEvery;
                if (isBack && limit > 0 && backBytes.addAndGet(n) >= limit) {
                    backBytes.set(0);
                    cut();
                }
            }
        } catch (IOException e) {
            // Cut.
        }
    }

    /** Cuts every connection. */
    void cut() {
        synchronized (sockets) {
            cuts += sockets.isEmpty() ? 0 : 1;
            for (Socket socket : sockets) {
                try {
                    socket.close();
                } catch (IOException e) {
                    // It is gone, then.
                }
            }
            sockets.clear();
        }
    }

    @Override
    public void close() throws IOException {
        listener.close();
        cut();
    }
}
