package dev.verbena.agent;

import dev.verbena.agent.internal.ByteViews;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** One TCP connection; used by one thread. */
final class NioByteStream implements ByteStreams.ByteStream {
    /** Less than this is copied: a view of its own would not pay. */
    private static final int VIEW_LENGTH_MIN = 4096;

    private final NioByteStreams streams;
    private final ByteViews views = new ByteViews();
    private final String peer;
    private final int port;
    private CompletableFuture<InetAddress> address;
    private SocketChannel channel;
    private SelectionKey key;
    private final ByteBuffer[] pair = new ByteBuffer[2];
    private int state;
    private String error = "";
    private int wakeAfter = 1;
    private int dryReads;
    private int dryWrites;

    /** Starts to connect. */
    NioByteStream(NioByteStreams streams, String host, int port) {
        this.streams = streams;
        this.port = port;
        this.peer = (host == null || host.isEmpty() ? "localhost" : host) + ":" + port;
        this.state = CONNECTING;
        try {
            if (NioByteStreams.isLiteral(host)) {
                startConnect(NioByteStreams.resolve(host));
            } else {
                address = streams.resolveLater(host);
            }
        } catch (IOException | RuntimeException e) {
            connectFailed(e);
        }
    }

    /** An accepted connection. */
    NioByteStream(NioByteStreams streams, SocketChannel accepted) {
        this.streams = streams;
        this.channel = accepted;
        this.port = 0;
        String name = "unknown";
        try {
            InetSocketAddress remote = (InetSocketAddress) accepted.getRemoteAddress();
            name = remote.getAddress().getHostAddress() + ":" + remote.getPort();
            open();
        } catch (IOException e) {
            fail("connection from " + name + " failed: " + cause(e));
        }
        this.peer = name;
    }

    private void startConnect(InetAddress target) throws IOException {
        channel = SocketChannel.open();
        channel.configureBlocking(false);
        if (channel.connect(new InetSocketAddress(target, port))) {
            open();
        } else {
            key = streams.register(channel, SelectionKey.OP_CONNECT);
        }
    }

    private void open() throws IOException {
        channel.configureBlocking(false);
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        if (key == null) {
            key = streams.register(channel, SelectionKey.OP_READ);
        } else {
            // A connected channel that still waits for OP_CONNECT is writable to the kernel and
            // nothing to the selector, which then returns at once, each time.
            key.interestOpsAnd(~SelectionKey.OP_CONNECT);
            NioByteStreams.arm(key, SelectionKey.OP_READ);
        }
        state = OPEN;
    }

    @Override
    public int state() {
        if (state == CONNECTING) {
            driveConnect();
        }
        return state;
    }

    private void driveConnect() {
        try {
            if (address != null) {
                if (!address.isDone()) {
                    return;
                }
                InetAddress target = address.join();
                address = null;
                startConnect(target);
            } else if (channel.finishConnect()) {
                open();
            } else {
                NioByteStreams.arm(key, SelectionKey.OP_CONNECT);
            }
        } catch (CompletionException e) {
            connectFailed(e.getCause());
        } catch (IOException | RuntimeException e) {
            connectFailed(e);
        }
    }

    private void connectFailed(Throwable e) {
        fail("connect to " + peer + " failed: " + cause(e));
    }

    private static String cause(Throwable e) {
        if (e instanceof java.net.UnknownHostException) {
            return "unknown host";
        }
        return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
    }

    private void fail(String text) {
        error = text;
        state = FAILED;
        if (channel != null) {
            streams.closeAndFlush(channel);
        }
    }

    @Override
    public String error() {
        return error;
    }

    @Override
    public String peer() {
        return peer;
    }

    @Override
    public int read(MutableDirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (state() != OPEN) {
            return state == CONNECTING ? 0 : -1;
        }
        if (length == 0) {
            return 0;
        }
        ByteBuffer view = length < VIEW_LENGTH_MIN ? null : views.view(buffer, offset, length);
        ByteBuffer bytes = view == null ? streams.staging() : view;
        if (view == null) {
            bytes.limit(Math.min(length, bytes.capacity()));
        }
        try {
            int count = channel.read(bytes);
            if (count < 0) {
                fail(peer + " closed the connection");
                return -1;
            }
            if (count == 0) {
                if (++dryReads >= wakeAfter) {
                    NioByteStreams.arm(key, SelectionKey.OP_READ);
                }
                return 0;
            }
            dryReads = 0;
            if (view == null) {
                buffer.putBytes(offset, bytes, 0, count);
            }
            return count;
        } catch (IOException e) {
            fail("reading from " + peer + " failed: " + cause(e));
            return -1;
        }
    }

    @Override
    public int write(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        if (state() != OPEN) {
            return state == CONNECTING ? 0 : -1;
        }
        ByteBuffer view = length < VIEW_LENGTH_MIN ? null : views.view(buffer, offset, length);
        try {
            if (view != null) {
                int count = channel.write(view);
                wrote(count, length);
                return count;
            }
            int written = 0;
            while (written < length) {
                ByteBuffer bytes = streams.staging();
                int chunk = Math.min(length - written, bytes.capacity());
                buffer.getBytes(offset + written, bytes, 0, chunk);
                bytes.position(0).limit(chunk);
                int count = channel.write(bytes);
                written += count;
                wrote(count, chunk);
                if (count < chunk) {
                    break;
                }
            }
            return written;
        } catch (IOException e) {
            return writeFailed(e);
        }
    }

    @Override
    public int write(
            DirectBuffer first,
            int firstOffset,
            int firstLength,
            DirectBuffer second,
            int secondOffset,
            int secondLength) {
        first.boundsCheck(firstOffset, firstLength);
        second.boundsCheck(secondOffset, secondLength);
        boolean isOne = secondLength < VIEW_LENGTH_MIN || firstLength >= VIEW_LENGTH_MIN;
        ByteBuffer view = isOne ? null : views.view(second, secondOffset, secondLength);
        if (view == null || state() != OPEN) {
            return ByteStreams.ByteStream.super.write(
                    first, firstOffset, firstLength, second, secondOffset, secondLength);
        }
        ByteBuffer bytes = streams.staging();
        first.getBytes(firstOffset, bytes, 0, firstLength);
        bytes.position(0).limit(firstLength);
        pair[0] = bytes;
        pair[1] = view;
        try {
            int count = (int) channel.write(pair, 0, 2);
            wrote(count, firstLength + secondLength);
            return count;
        } catch (IOException e) {
            return writeFailed(e);
        }
    }

    private void wrote(int count, int length) {
        dryWrites = count > 0 ? 0 : dryWrites + 1;
        if (count < length && dryWrites + 1 >= wakeAfter) {
            NioByteStreams.arm(key, SelectionKey.OP_WRITE);
        }
    }

    private int writeFailed(IOException e) {
        fail("writing to " + peer + " failed: " + cause(e));
        return -1;
    }

    @Override
    public void wakeAfter(int calls) {
        if (calls < 1) {
            throw new IllegalArgumentException("wakeAfter " + calls + " is below 1");
        }
        wakeAfter = calls;
    }

    @Override
    public void close() {
        if (state != CLOSED) {
            state = CLOSED;
            if (channel != null) {
                streams.closeAndFlush(channel);
            }
        }
    }
}
