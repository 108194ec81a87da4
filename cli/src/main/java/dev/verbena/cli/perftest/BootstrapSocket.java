package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import jdk.net.ExtendedSocketOptions;

/** Bootstrap over TCP, for programs that then communicate by RDMA. One thread. */
final class BootstrapSocket implements BootstrapLink {
    private static final int STEP_MS = 60_000;
    private static final int KEEP_IDLE_SECONDS = 30;
    private static final int KEEP_INTERVAL_SECONDS = 10;
    private static final int KEEP_COUNT = 3;
    private static final int END_MS = 3_000;
    private static final int END_LENGTH_MAX = 64;
    private static final long RETRY_NS = 100_000_000;

    private final Socket socket;
    private final DataInputStream in;
    private final boolean isClient;

    private BootstrapSocket(Socket socket, boolean isClient) throws IOException {
        this.socket = socket;
        this.isClient = isClient;
        this.in = new DataInputStream(socket.getInputStream());
        socket.setTcpNoDelay(true);
        socket.setKeepAlive(true);
        socket.setSoTimeout(STEP_MS);
    }

    /** To a server, which may still be about to start. */
    static BootstrapSocket connect(String host, int port, long patienceMs) throws IOException {
        InetSocketAddress address = new InetSocketAddress(host, port);
        if (address.isUnresolved()) {
            throw new Messages.Failure(
                    "no name service knows the host '" + host + "'; give its address instead");
        }
        long deadlineNs = System.nanoTime() + patienceMs * 1_000_000;
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(address, STEP_MS);
                return new BootstrapSocket(socket, true);
            } catch (IOException e) {
                socket.close();
                if (System.nanoTime() - deadlineNs >= 0) {
                    throw new Messages.Failure(
                            "nobody listens on " + host + " port " + port + ": " + Messages.of(e));
                }
            }
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    /**
     * Waits for one client.
     *
     * @param address to listen on; null for all
     * @param listening runs as soon as a client can connect; gets the port
     */
    static BootstrapSocket accept(InetAddress address, int port, IntConsumer listening)
            throws IOException {
        try (ServerSocket server = new ServerSocket()) {
            server.setReuseAddress(true);
            bind(server, address, port);
            listening.accept(server.getLocalPort());
            return new BootstrapSocket(server.accept(), false);
        }
    }

    private static void bind(ServerSocket server, InetAddress address, int port)
            throws IOException {
        try {
            server.bind(new InetSocketAddress(address, port), 1);
        } catch (BindException e) {
            throw new Messages.Failure(
                    ("cannot listen on port %s%s: %s; choose another with --port on both sides, "
                                    + "or another address with --bind")
                            .formatted(
                                    port,
                                    address == null ? "" : " of " + address.getHostAddress(),
                                    Messages.of(e)));
        }
    }

    @Override
    public boolean isClient() {
        return isClient;
    }

    /**
     * A lost computer is noticed within a minute where the system supports keep-alive. A stopped
     * program is waited for.
     */
    @Override
    public void waitIndefinitely() throws IOException {
        keepAlive(ExtendedSocketOptions.TCP_KEEPIDLE, KEEP_IDLE_SECONDS);
        keepAlive(ExtendedSocketOptions.TCP_KEEPINTERVAL, KEEP_INTERVAL_SECONDS);
        keepAlive(ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_COUNT);
        socket.setSoTimeout(0);
    }

    private void keepAlive(SocketOption<Integer> option, int value) throws IOException {
        if (socket.supportedOptions().contains(option)) {
            socket.setOption(option, value);
        }
    }

    /** Value of an option of the connection. */
    <T> T option(SocketOption<T> option) throws IOException {
        return socket.getOption(option);
    }

    @Override
    public void write(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Exactly so many bytes.
     *
     * @throws Messages.Failure if they do not come
     */
    @Override
    public byte[] read(int length) {
        byte[] bytes = new byte[length];
        try {
            in.readFully(bytes);
            return bytes;
        } catch (SocketTimeoutException e) {
            throw new Messages.Failure(
                    ("the other side said nothing for %s s; are both programs the same tool, "
                                    + "with the same options?")
                            .formatted(STEP_MS / 1000));
        } catch (EOFException e) {
            throw new Messages.Failure("the other side has hung up; see what it says");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Until the other side has hung up, or for a few seconds; nothing depends on it any more. */
    @Override
    public void awaitEnd() {
        try {
            socket.setSoTimeout(END_MS);
            socket.shutdownOutput();
            in.readNBytes(END_LENGTH_MAX);
        } catch (IOException e) {
            return; // it has gone
        }
    }

    @Override
    public void part() {
        write(new byte[] {'d', 'o', 'n', 'e', 0});
        awaitEnd();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
