package dev.verbena.verbs.transport;

import dev.verbena.transport.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * One thread of this process that speaks for all its verbs transports: it answers for the process,
 * not for the program, so a process that computes and does not poll is not taken for dead, and one
 * that is stopped is. It touches no verbs object; what it learns goes to the owners as frames.
 */
final class SideChannelLoop implements Runnable {
    private static final int STRANGERS_MAX = 64;

    /** For each channel: what connections that ended have left unread counts, too. */
    private static final int UNREAD_MAX = 4;

    private static final long HELLO_WITHIN_NS = 5_000_000_000L;
    private static final long PAUSE_NS = 200_000_000L;
    private static final long TICK_NS = 1_000_000_000L;
    private static final long NS_PER_MS = 1_000_000L;
    private static final long CLOSE_SECONDS = 3;
    private static SideChannelLoop running;

    /** A socket where peers come to. */
    private record Listener(ServerSocketChannel socket, FrameReceiver receiver, int channelsMax) {}

    private final Selector selector;
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final List<PeerChannel> channels = new ArrayList<>();

    /** Listeners that could not let anybody in; opened again at the next look at the clock. */
    private final List<SelectionKey> paused = new ArrayList<>();

    private final List<Listener> listeners = new ArrayList<>();
    private long pausedNs;
    private long tickNs = System.nanoTime();
    private int users;
    private volatile boolean isEnding;

    /** Its thread has ended, in order or not; what it was to run runs where it is asked for. */
    private volatile boolean isOver;

    private SideChannelLoop() throws IOException {
        selector = Selector.open();
    }

    /**
     * The process's side-channel loop, for one transport more; {@link #leave} when that is closed.
     */
    static SideChannelLoop join() {
        return join(SideChannelLoop::newThread);
    }

    private static Thread newThread(Runnable loop) {
        Thread thread = new Thread(loop, "verbena-verbs-keeper");
        thread.setDaemon(true);
        return thread;
    }

    static synchronized SideChannelLoop join(ThreadFactory threads) {
        try {
            if (running == null) {
                SideChannelLoop loop = new SideChannelLoop();
                loop.start(threads);
                running = loop;
            }
            running.users++;
            return running;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void start(ThreadFactory threads) throws IOException {
        try {
            threads.newThread(this).start();
        } catch (RuntimeException | Error e) {
            selector.close();
            throw e;
        }
    }

    /** One transport less; the thread ends with the last, when its channels are closed. */
    void leave() {
        synchronized (SideChannelLoop.class) {
            users--;
            if (users == 0) {
                forget();
                isEnding = true;
            }
        }
        selector.wakeup();
    }

    /** The next one that joins begins another. */
    private void forget() {
        synchronized (SideChannelLoop.class) {
            if (running == this) {
                running = null;
            }
        }
    }

    /** Runs something on the side-channel loop's thread, soon. */
    void execute(Runnable task) {
        tasks.add(task);
        if (isOver) {
            runTasks();
        } else {
            selector.wakeup();
        }
    }

    private synchronized void runTasks() {
        Runnable task;
        while ((task = tasks.poll()) != null) {
            run(task);
        }
    }

    /** Waits until everything before was run; gives up after some seconds. */
    void flush() {
        CountDownLatch latch = new CountDownLatch(1);
        execute(latch::countDown);
        try {
            if (!latch.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the keeper's thread does not run");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Opens a listener.
     *
     * @param channelsMax who comes while so many are in is turned away
     */
    ServerSocketChannel listen(InetSocketAddress address, FrameReceiver receiver, int channelsMax)
            throws IOException {
        ServerSocketChannel socket = ServerSocketChannel.open();
        try {
            socket.bind(address);
            socket.configureBlocking(false);
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
        Listener listener = new Listener(socket, receiver, channelsMax);
        execute(
                () -> {
                    register(socket, SelectionKey.OP_ACCEPT, listener);
                    listeners.add(listener);
                });
        return socket;
    }

    /** Closes a listener; who came in stays. */
    void close(ServerSocketChannel socket) {
        execute(
                () -> {
                    listeners.removeIf(listener -> listener.socket() == socket);
                    try {
                        socket.close();
                        // A closed channel goes on listening until its selector looks again.
                        if (selector.isOpen()) {
                            selector.selectNow();
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
    }

    /** Ends every channel of a receiver that is closed, and notifies those that are still there. */
    void endAll(FrameReceiver receiver) {
        execute(
                () -> {
                    for (PeerChannel channel : channels) {
                        if (channel.isOf(receiver)) {
                            channel.closeInOrder();
                        }
                    }
                });
    }

    /** Begins to connect. */
    PeerChannel connect(InetSocketAddress address, FrameReceiver receiver) throws IOException {
        SocketChannel socket = SocketChannel.open();
        PeerChannel channel = newChannel(socket, receiver);
        execute(() -> begin(channel, socket, address));
        return channel;
    }

    /** As that, when the address has been found out, by a thread that may take long for it. */
    PeerChannel connect(Supplier<InetSocketAddress> lookUp, FrameReceiver receiver)
            throws IOException {
        SocketChannel socket = SocketChannel.open();
        PeerChannel channel = newChannel(socket, receiver);
        Thread thread =
                new Thread(
                        () -> {
                            InetSocketAddress address = lookUp.get();
                            execute(() -> begin(channel, socket, address));
                        },
                        "verbena-verbs-lookup");
        thread.setDaemon(true);
        try {
            thread.start();
        } catch (OutOfMemoryError e) {
            channel.close();
            throw e;
        }
        return channel;
    }

    private PeerChannel newChannel(SocketChannel socket, FrameReceiver receiver)
            throws IOException {
        socket.configureBlocking(false);
        socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
        PeerChannel channel = new PeerChannel(this, socket, receiver, false);
        execute(() -> channels.add(channel));
        return channel;
    }

    private void begin(PeerChannel channel, SocketChannel socket, InetSocketAddress address) {
        if (channel.isEnded()) {
            return; // its deadline has passed
        }
        try {
            boolean isThere = socket.connect(address);
            SelectionKey key =
                    register(
                            socket,
                            isThere ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            channel);
            channel.register(key, !isThere);
        } catch (java.net.ConnectException e) {
            channel.end(Status.NOT_LISTENING, "nobody listens there: " + e.getMessage());
        } catch (IOException | RuntimeException e) {
            channel.end(Status.PEER_DEAD, "cannot be reached: " + e);
        }
    }

    private SelectionKey register(
            java.nio.channels.SelectableChannel channel, int operations, Object attachment) {
        try {
            return channel.register(selector, operations, attachment);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void run() {
        try (selector) {
            long nextNs = System.nanoTime();
            while (!isEnding || !channels.isEmpty() || !tasks.isEmpty()) {
                long ms = Math.max(1, (nextNs - System.nanoTime()) / NS_PER_MS + 1);
                if (tasks.isEmpty()) {
                    selector.select(ms);
                } else {
                    selector.selectNow();
                }
                runTasks();
                serveReady();
                if (isEnding) {
                    channels.forEach(PeerChannel::closeWhenSent);
                }
                nextNs = serveTime(Math.max(0, System.nanoTime() - nextNs));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            over();
        }
    }

    /** The thread ends. If that is a bug, owners learn that nobody speaks for them any more. */
    private void over() {
        forget();
        isOver = true;
        for (PeerChannel channel : channels) {
            run(() -> channel.end(Status.INTERNAL, "has no keeper any more: see the error log"));
        }
        runTasks();
    }

    /** What one transport asks for must not end the thread of all. */
    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            Thread thread = Thread.currentThread();
            thread.getThreadGroup().uncaughtException(thread, e);
        }
    }

    private void serveReady() {
        Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
        while (ready.hasNext()) {
            SelectionKey key = ready.next();
            ready.remove();
            if (key.attachment() instanceof Listener listener) {
                run(() -> welcome(listener, key));
            } else if (key.attachment() instanceof PeerChannel channel) {
                run(() -> serve(channel));
            }
        }
    }

    private static void serve(PeerChannel channel) {
        boolean isDone = false;
        try {
            channel.onReady();
            isDone = true;
        } finally {
            if (!isDone) {
                channel.end(Status.INTERNAL, "could not be understood, a bug: see the error log");
            }
        }
    }

    /**
     * After everything that came was read.
     *
     * @param lateNs how much later than planned: a process that was itself stopped does not blame
     *     others
     */
    private long serveTime(long lateNs) {
        long nowNs = System.nanoTime();
        if (nowNs - tickNs >= 0) {
            tickNs = nowNs + TICK_NS;
            listeners.forEach(listener -> listener.receiver().tick());
        }
        long nextNs = tickNs;
        if (!paused.isEmpty() && nowNs - pausedNs >= 0) {
            paused.forEach(SideChannelLoop::open);
            paused.clear();
        } else if (!paused.isEmpty()) {
            nextNs = pausedNs;
        }
        for (int i = channels.size() - 1; i >= 0; i--) {
            PeerChannel channel = channels.get(i);
            channel.forgive(lateNs, nowNs);
            long wantedNs = channel.isEnded() ? nextNs : channel.onTime(nowNs);
            if (channel.isEnded()) {
                channels.set(i, channels.get(channels.size() - 1));
                channels.remove(channels.size() - 1);
            } else if (wantedNs - nextNs < 0) {
                nextNs = wantedNs;
            }
        }
        return nextNs;
    }

    private static void open(SelectionKey listener) {
        if (listener.isValid()) {
            listener.interestOps(SelectionKey.OP_ACCEPT);
        }
    }

    private void welcome(Listener listener, SelectionKey key) {
        SocketChannel socket;
        try {
            socket = listener.socket().accept();
        } catch (IOException e) {
            // Too many files, most likely: the listener would be ready again at once, and for ever.
            key.interestOps(0);
            paused.add(key);
            pausedNs = System.nanoTime() + PAUSE_NS;
            return;
        }
        if (socket != null) {
            welcome(listener, socket);
        }
    }

    private void welcome(Listener listener, SocketChannel socket) {
        boolean isIn = false;
        try {
            if (isCrowded(listener)) {
                return;
            }
            socket.configureBlocking(false);
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            PeerChannel channel = new PeerChannel(this, socket, listener.receiver(), true);
            channel.register(register(socket, SelectionKey.OP_READ, channel), false);
            channel.setDeadline(System.nanoTime() + HELLO_WITHIN_NS, "said nothing");
            channels.add(channel);
            isIn = true;
        } catch (IOException e) {
            isIn = false; // it has left again
        } finally {
            if (!isIn) {
                turnAway(socket);
            }
        }
    }

    private static void turnAway(SocketChannel socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isCrowded(Listener listener) {
        if (listener.receiver().unreadCount() >= UNREAD_MAX * listener.channelsMax()) {
            return true;
        }
        int count = 0;
        int strangers = 0;
        for (PeerChannel channel : channels) {
            if (channel.isOf(listener.receiver())) {
                count++;
                strangers += channel.isStranger() ? 1 : 0;
            }
        }
        return count >= listener.channelsMax() || strangers >= STRANGERS_MAX;
    }
}
