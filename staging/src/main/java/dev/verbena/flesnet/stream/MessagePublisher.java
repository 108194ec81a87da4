package dev.verbena.flesnet.stream;

import dev.verbena.staging.Arguments;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * A publisher as ZeroMQ's PUB socket is: it speaks ZMTP 3.0 (rfc.zeromq.org/spec/23) over TCP, with
 * the mechanism NULL. A subscriber whose queue is full does not get a message; who subscribes later
 * does not get earlier ones. Nothing waits. One thread calls everything.
 */
public final class MessagePublisher implements AutoCloseable {
    private static final int SUBSCRIBERS_MAX = 64;
    private static final long HANDSHAKE_NS = 5_000_000_000L;

    private final ServerSocketChannel listener;
    private final int highWater;
    private final List<Subscriber> subscribers = new ArrayList<>();
    private long publishedCount;
    private long droppedCount;
    private long refusedCount;

    /**
     * Listens.
     *
     * @param local port 0: any, see {@link #port}
     * @param highWater messages that wait for one subscriber, 1 to 1,000,000
     * @throws IOException if it cannot listen there
     */
    public MessagePublisher(InetSocketAddress local, int highWater) throws IOException {
        Arguments.range("highWater", highWater, 1, 1_000_000);
        this.highWater = highWater;
        listener = ServerSocketChannel.open();
        try {
            listener.configureBlocking(false);
            listener.bind(local);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
    }

    /** Where it listens. */
    public int port() {
        return listener.socket().getLocalPort();
    }

    /** Takes new subscribers, reads what they want, sends what waits; answers what was done. */
    public int doWork(long nowNs) {
        int work = accept(nowNs);
        for (int i = subscribers.size() - 1; i >= 0; i--) {
            Subscriber subscriber = subscribers.get(i);
            work += subscriber.doWork();
            boolean isLate = !subscriber.isReady() && nowNs - subscriber.sinceNs() > HANDSHAKE_NS;
            if (subscriber.isEnded() || isLate) {
                refusedCount += subscriber.isRefused() || isLate ? 1 : 0;
                subscriber.close();
                subscribers.remove(i);
                work++;
            }
        }
        return work;
    }

    private int accept(long nowNs) {
        try {
            SocketChannel channel = listener.accept();
            if (channel == null) {
                return 0;
            }
            if (subscribers.size() == SUBSCRIBERS_MAX) {
                refusedCount++;
                channel.close();
                return 1;
            }
            subscribers.add(new Subscriber(channel, nowNs));
            return 1;
        } catch (IOException e) {
            // One that was gone before it was taken.
            return 0;
        }
    }

    /** Queues a message, which is not copied, for everyone who wants it. */
    public void publish(byte[] message) {
        publishedCount++;
        for (Subscriber subscriber : subscribers) {
            if (subscriber.wants(message)) {
                droppedCount += subscriber.offer(message, highWater) ? 0 : 1;
            }
        }
    }

    /** Subscribers that have subscribed to something. */
    public int subscriberCount() {
        return (int) subscribers.stream().filter(Subscriber::isSubscribed).count();
    }

    /** Whether the sockets have taken everything. */
    public boolean isFlushed() {
        return subscribers.stream().allMatch(Subscriber::isFlushed);
    }

    /** Messages so far. */
    public long publishedCount() {
        return publishedCount;
    }

    /** Messages that a subscriber did not get, because its queue was full. */
    public long droppedCount() {
        return droppedCount;
    }

    /** Connections that were ended because of what they sent, or did not send in time. */
    public long refusedCount() {
        return refusedCount;
    }

    /** Ends all connections, whatever waits. */
    @Override
    public void close() {
        subscribers.forEach(Subscriber::close);
        subscribers.clear();
        try {
            listener.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
