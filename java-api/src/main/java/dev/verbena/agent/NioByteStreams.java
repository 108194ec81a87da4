package dev.verbena.agent;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.agrona.ErrorHandler;

/**
 * TCP over non-blocking channels. Reads and writes happen on the caller's thread. One thread of its
 * own waits for readiness, only to call the wake-ups: interest is armed when a call could not make
 * progress and is taken away when it fired, so that an idle or unread stream costs nothing.
 */
final class NioByteStreams implements ByteStreams, AutoCloseable {
    private static final int STAGING_LENGTH = 64 * 1024;
    private static final int FLUSH_MAX = 20_000;
    private static final long FLUSH_PAUSE_NS = 20_000;
    private static final Pattern IPV4 = Pattern.compile("[0-9]{1,3}(\\.[0-9]{1,3}){3}");

    private final ThreadLocal<ByteBuffer> staging =
            ThreadLocal.withInitial(() -> ByteBuffer.allocateDirect(STAGING_LENGTH));
    private final List<Runnable> wakeups = new CopyOnWriteArrayList<>();
    private final ErrorHandler errorHandler;
    private final Object lock = new Object();
    private Selector selector;
    private Thread thread;

    /** Rounds of the selector that have ended; written by its thread only. */
    private volatile long rounds;

    private boolean isClosed;

    NioByteStreams(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    @Override
    public ByteStream connect(String host, int port) {
        if (port < 1 || port > 65535) {
            throw new IllegalArgumentException("port " + port + " is outside 1 to 65535");
        }
        return new NioByteStream(this, host, port);
    }

    @Override
    public Listener listen(String host, int port) {
        if (port < 0 || port > 65535) {
            throw new IllegalArgumentException("port " + port + " is outside 0 to 65535");
        }
        ServerSocketChannel channel = null;
        try {
            channel = ServerSocketChannel.open();
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(new InetSocketAddress(resolve(host), port));
            SelectionKey key = register(channel, SelectionKey.OP_ACCEPT);
            int bound = ((InetSocketAddress) channel.getLocalAddress()).getPort();
            return new NioListener(channel, key, bound);
        } catch (IOException e) {
            closeQuietly(channel);
            throw new UncheckedIOException("cannot listen on " + host + ":" + port + ": " + e, e);
        }
    }

    @Override
    public AutoCloseable onReady(Runnable wakeup) {
        wakeups.add(wakeup);
        return () -> wakeups.remove(wakeup);
    }

    void ready() {
        for (Runnable wakeup : wakeups) {
            try {
                wakeup.run();
            } catch (RuntimeException e) {
                errorHandler.onError(e);
            }
        }
    }

    /** This thread's buffer, empty, to move bytes between a channel and an Agrona buffer. */
    ByteBuffer staging() {
        return staging.get().clear();
    }

    /** Whether the address of this host is known without asking anybody. */
    static boolean isLiteral(String host) {
        return host == null
                || host.isEmpty()
                || host.equals("localhost")
                || host.indexOf(':') >= 0
                || IPV4.matcher(host).matches();
    }

    /** Empty: loopback. May block unless {@link #isLiteral}. */
    static InetAddress resolve(String host) throws UnknownHostException {
        return host == null || host.isEmpty() || host.equals("localhost")
                ? InetAddress.getLoopbackAddress()
                : InetAddress.getByName(host);
    }

    /** Name look-up off the caller's thread; may wait as long as the resolver likes. */
    CompletableFuture<InetAddress> resolveLater(String host) {
        CompletableFuture<InetAddress> future = new CompletableFuture<>();
        Thread resolver =
                new Thread(
                        () -> {
                            try {
                                future.complete(InetAddress.getByName(host));
                            } catch (UnknownHostException | RuntimeException e) {
                                future.completeExceptionally(e);
                            }
                            ready();
                        },
                        "verbena-resolve-" + host);
        resolver.setDaemon(true);
        resolver.start();
        return future;
    }

    SelectionKey register(SelectableChannel channel, int interest) throws IOException {
        synchronized (lock) {
            if (isClosed) {
                throw new ClosedChannelException();
            }
            if (selector == null) {
                selector = Selector.open();
                thread = new Thread(this::waitForReadiness, "verbena-streams");
                thread.setDaemon(true);
                thread.start();
            }
            SelectionKey key = channel.register(selector, interest);
            selector.wakeup();
            return key;
        }
    }

    /** Asks for one wake-up when the channel is ready for this. */
    static void arm(SelectionKey key, int interest) {
        try {
            if ((key.interestOpsOr(interest) & interest) != interest) {
                key.selector().wakeup();
            }
        } catch (CancelledKeyException ignored) {
            // Closed meanwhile: nothing will become ready any more.
        }
    }

    /** A closed channel gives its socket back only when the selector has seen it. */
    void closeAndFlush(SelectableChannel channel) {
        closeQuietly(channel);
        synchronized (lock) {
            if (selector != null) {
                selector.wakeup();
            }
        }
    }

    private void closeQuietly(SelectableChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            errorHandler.onError(e);
        }
    }

    /** How often the wake-up thread has come back from waiting; for tests. */
    long rounds() {
        return rounds;
    }

    private void waitForReadiness() {
        while (selector.isOpen()) {
            try {
                selector.select(this::fired);
                rounds++;
            } catch (java.nio.channels.ClosedSelectorException e) {
                return;
            } catch (IOException e) {
                errorHandler.onError(new IOException("waiting for streams: " + e, e));
                return;
            }
        }
    }

    private void fired(SelectionKey key) {
        try {
            key.interestOpsAnd(~key.readyOps());
        } catch (CancelledKeyException ignored) {
            // Closed meanwhile; the wake-up does no harm.
        }
        ready();
    }

    /** Ends the thread. Streams that are still open can be used, but nobody is woken for them. */
    @Override
    public void close() {
        synchronized (lock) {
            if (isClosed) {
                return;
            }
            isClosed = true;
            if (selector == null) {
                return;
            }
            try {
                selector.close();
            } catch (IOException e) {
                errorHandler.onError(e);
            }
        }
        try {
            thread.join(5_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private final class NioListener implements Listener {
        private final ServerSocketChannel channel;
        private final SelectionKey key;
        private final int port;

        NioListener(ServerSocketChannel channel, SelectionKey key, int port) {
            this.channel = channel;
            this.key = key;
            this.port = port;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public ByteStream accept() {
            try {
                if ((key.interestOps() & SelectionKey.OP_ACCEPT) != 0) {
                    // The selector has not fired since nobody was there: spare the system call,
                    // which makes a socket before it finds that there is no use for it.
                    return null;
                }
                SocketChannel accepted = channel.accept();
                if (accepted != null) {
                    return new NioByteStream(NioByteStreams.this, accepted);
                }
                arm(key, SelectionKey.OP_ACCEPT);
            } catch (ClosedChannelException | CancelledKeyException e) {
                return null;
            } catch (IOException e) {
                // Typically: no file descriptor left. The next cycle tries again.
                errorHandler.onError(new IOException("accept on port " + port + ": " + e, e));
            }
            return null;
        }

        /** On return the port is free; until the selector has seen the close it is not. */
        @Override
        public void close() {
            closeAndFlush(channel);
            // The round that may be ending now has perhaps not seen the close; the one after it
            // has.
            long enough = rounds + 2;
            for (int i = 0; rounds - enough < 0 && thread.isAlive() && i < FLUSH_MAX; i++) {
                selector.wakeup();
                LockSupport.parkNanos(FLUSH_PAUSE_NS);
            }
        }
    }
}
