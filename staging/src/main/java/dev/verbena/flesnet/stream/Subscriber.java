package dev.verbena.flesnet.stream;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.CloseHelper;

/**
 * One connection of a {@link MessagePublisher}: greeting, READY, subscriptions; then messages. What
 * a peer sends may be anything: frames are short, subscriptions few, and what is not understood
 * ends the connection. One thread.
 */
final class Subscriber implements AutoCloseable {
    private static final int GREETING_LENGTH = 64;
    private static final int IN_MAX = 1024;
    private static final int TOPICS_MAX = 64;

    /** A write copies all that it is given. */
    private static final int WRITE_MAX = 1 << 18;

    private static final int MORE = 1;
    private static final int LONG = 2;
    private static final int COMMAND = 4;
    private static final int SHORT_MAX = 255;
    private static final byte[] MECHANISM = Arrays.copyOf("NULL".getBytes(US_ASCII), 20);

    private final SocketChannel channel;
    private final long sinceNs;
    private final ByteBuffer in = ByteBuffer.allocate(IN_MAX);
    private final ArrayDeque<ByteBuffer[]> out = new ArrayDeque<>();
    private final List<byte[]> topics = new ArrayList<>();
    private boolean isGreeted;
    private boolean isReady;
    private boolean isEnded;
    private boolean isRefused;

    Subscriber(SocketChannel channel, long sinceNs) throws IOException {
        this.channel = channel;
        this.sinceNs = sinceNs;
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        out.add(new ByteBuffer[] {greeting()});
    }

    /** Signature, version 3.0, mechanism, no server; zeros to the end. */
    private static ByteBuffer greeting() {
        ByteBuffer greeting = ByteBuffer.allocate(GREETING_LENGTH);
        greeting.put(0, (byte) 0xFF).put(8, (byte) 1).put(9, (byte) 0x7F).put(10, (byte) 3);
        greeting.put(12, MECHANISM);
        return greeting;
    }

    private static ByteBuffer ready() {
        byte[] name = "READY".getBytes(US_ASCII);
        byte[] key = "Socket-Type".getBytes(US_ASCII);
        byte[] value = "PUB".getBytes(US_ASCII);
        int length = 1 + name.length + 1 + key.length + 4 + value.length;
        ByteBuffer frame = ByteBuffer.allocate(2 + length);
        frame.put((byte) COMMAND).put((byte) length);
        frame.put((byte) name.length).put(name);
        frame.put((byte) key.length).put(key).putInt(value.length).put(value);
        return frame.flip();
    }

    int doWork() {
        try {
            return isEnded ? 0 : read() + write();
        } catch (IOException e) {
            // It is gone; a subscriber that comes back connects again.
            isEnded = true;
            return 1;
        }
    }

    private int read() throws IOException {
        int count = channel.read(in);
        if (count < 0) {
            isEnded = true;
            return 1;
        }
        if (count == 0) {
            return 0;
        }
        in.flip();
        boolean isGood = take();
        in.compact();
        if (!isGood) {
            isEnded = true;
            isRefused = true;
        }
        return 1;
    }

    /** What is whole of what has come; false: it is nothing that a subscriber sends. */
    private boolean take() {
        if (!isGreeted) {
            if (in.remaining() < GREETING_LENGTH) {
                return true;
            }
            if (!takeGreeting()) {
                return false;
            }
        }
        while (in.remaining() >= 2) {
            int begin = in.position();
            int flags = in.get();
            boolean isLong = (flags & LONG) != 0;
            if (isLong && in.remaining() < Long.BYTES) {
                in.position(begin);
                return true;
            }
            long length = isLong ? in.getLong() : in.get() & 0xFF;
            if (length < 0 || length > IN_MAX - 1 - Long.BYTES || (flags & MORE) != 0) {
                return false;
            }
            if (in.remaining() < length) {
                in.position(begin);
                return true;
            }
            byte[] body = new byte[(int) length];
            in.get(body);
            if (!takeFrame((flags & COMMAND) != 0, body)) {
                return false;
            }
        }
        return true;
    }

    private boolean takeGreeting() {
        byte[] greeting = new byte[GREETING_LENGTH];
        in.get(greeting);
        boolean isSigned = greeting[0] == (byte) 0xFF && greeting[9] == 0x7F && greeting[10] >= 3;
        boolean isPlain = Arrays.equals(greeting, 12, 32, MECHANISM, 0, MECHANISM.length);
        isGreeted = isSigned && isPlain;
        if (isGreeted) {
            out.add(new ByteBuffer[] {ready()});
        }
        return isGreeted;
    }

    private boolean takeFrame(boolean isCommand, byte[] body) {
        if (!isReady) {
            isReady = isCommand && isSubscriber(body);
            return isReady;
        }
        // Commands of later versions are not meant for one of version 3.0.
        return isCommand || body.length == 0 || takeSubscription(body);
    }

    private static boolean isSubscriber(byte[] command) {
        ByteBuffer bytes = ByteBuffer.wrap(command);
        try {
            if (!text(bytes, bytes.get()).equals("READY")) {
                return false;
            }
            while (bytes.hasRemaining()) {
                String key = text(bytes, bytes.get());
                String value = text(bytes, bytes.getInt());
                if (key.equalsIgnoreCase("Socket-Type")) {
                    return value.equals("SUB") || value.equals("XSUB");
                }
            }
        } catch (BufferUnderflowException e) {
            return false;
        }
        return false;
    }

    private static String text(ByteBuffer bytes, int length) {
        if (length < 0 || length > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] text = new byte[length];
        bytes.get(text);
        return new String(text, US_ASCII);
    }

    private boolean takeSubscription(byte[] body) {
        byte[] topic = Arrays.copyOfRange(body, 1, body.length);
        if (body[0] == 0) {
            for (int i = 0; i < topics.size(); i++) {
                if (Arrays.equals(topics.get(i), topic)) {
                    topics.remove(i);
                    return true;
                }
            }
            return true;
        }
        return body[0] == 1 && topics.size() < TOPICS_MAX && topics.add(topic);
    }

    private int write() throws IOException {
        int work = 0;
        while (!out.isEmpty()) {
            ByteBuffer[] first = out.peek();
            ByteBuffer last = first[first.length - 1];
            last.limit(last.position() + Math.min(WRITE_MAX, last.remaining()));
            channel.write(first);
            boolean isFull = first[0].hasRemaining() || last.hasRemaining();
            last.limit(last.capacity());
            if (isFull) {
                break;
            }
            if (!last.hasRemaining()) {
                out.remove();
                work++;
            }
        }
        return work;
    }

    /** Whether a topic that it subscribed to is how this message begins. */
    boolean wants(byte[] message) {
        for (byte[] topic : topics) {
            boolean isPrefix =
                    topic.length <= message.length
                            && Arrays.equals(topic, 0, topic.length, message, 0, topic.length);
            if (isPrefix) {
                return true;
            }
        }
        return false;
    }

    /** Queues it; false: too much waits. */
    boolean offer(byte[] message, int highWater) {
        if (out.size() >= highWater) {
            return false;
        }
        boolean isLong = message.length > SHORT_MAX;
        ByteBuffer head = ByteBuffer.allocate(isLong ? 1 + Long.BYTES : 2);
        head.put((byte) (isLong ? LONG : 0));
        if (isLong) {
            head.putLong(message.length);
        } else {
            head.put((byte) message.length);
        }
        out.add(new ByteBuffer[] {head.flip(), ByteBuffer.wrap(message)});
        return true;
    }

    long sinceNs() {
        return sinceNs;
    }

    boolean isReady() {
        return isReady;
    }

    boolean isSubscribed() {
        return !topics.isEmpty();
    }

    boolean isFlushed() {
        return out.isEmpty();
    }

    boolean isEnded() {
        return isEnded;
    }

    /** Whether it was ended because of what it sent. */
    boolean isRefused() {
        return isRefused;
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
