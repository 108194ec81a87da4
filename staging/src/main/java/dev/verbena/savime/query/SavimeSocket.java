package dev.verbena.savime.query;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;

/**
 * A socket whose reads and writes wait, each up to a time limit. A header and a payload in memory
 * leave in one system call; acknowledgements of the kernel are sent at once where it can do that.
 */
final class SavimeSocket implements AutoCloseable {
    private static final long NO_LIMIT = Long.MAX_VALUE;

    private final SocketChannel channel;
    private final Selector selector;
    private final SelectionKey key;
    private final SocketOption<Boolean> quickAck;

    private SavimeSocket(SocketChannel channel) throws IOException {
        this.channel = channel;
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        quickAck = quickAck(channel);
        selector = Selector.open();
        key = channel.register(selector, 0);
    }

    static SavimeSocket connect(String host, int port, long timeoutMs) throws IOException {
        SocketChannel channel = SocketChannel.open();
        try {
            channel.socket().connect(new InetSocketAddress(host, port), (int) timeoutMs);
            return new SavimeSocket(channel);
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e instanceof IOException io ? io : new IOException(host + ":" + port, e);
        }
    }

    /** The JDK has it on Linux, in a module that this one does not require; null: not here. */
    @SuppressWarnings("unchecked")
    private static SocketOption<Boolean> quickAck(SocketChannel channel) {
        for (SocketOption<?> option : channel.supportedOptions()) {
            if (option.name().equals("TCP_QUICKACK")) {
                return (SocketOption<Boolean>) option;
            }
        }
        return null;
    }

    /** Fills the buffer. */
    void read(ByteBuffer into, long timeoutMs) throws IOException {
        if (quickAck != null) {
            channel.setOption(quickAck, true); // The kernel forgets it after a while.
        }
        while (into.hasRemaining()) {
            int n = channel.read(into);
            if (n < 0) {
                throw new SavimeProtocolException("the server ended the session");
            }
            if (n == 0 && !await(SelectionKey.OP_READ, timeoutMs)) {
                throw new SavimeProtocolException("no answer within " + timeoutMs + " ms");
            }
        }
    }

    /** Writes all of both, together. */
    void write(ByteBuffer header, ByteBuffer payload, long timeoutMs) throws IOException {
        ByteBuffer[] both = {header, payload};
        while (header.hasRemaining() || payload.hasRemaining()) {
            if (channel.write(both) == 0 && !await(SelectionKey.OP_WRITE, timeoutMs)) {
                throw new SavimeProtocolException("nothing taken within " + timeoutMs + " ms");
            }
        }
    }

    /**
     * Writes on without a time limit, for there is no way back within an upload.
     *
     * @param stalled called again and again while the server takes nothing for so long
     */
    void write(ByteBuffer bytes, long stallMs, Runnable stalled) throws IOException {
        while (bytes.hasRemaining()) {
            if (channel.write(bytes) == 0) {
                awaitWritable(stallMs, stalled);
            }
        }
    }

    /** As above by {@code sendfile}; bytes taken, 0 only if the file has no more. */
    long transfer(FileChannel file, long position, long count, long stallMs, Runnable stalled)
            throws IOException {
        while (true) {
            long n = file.transferTo(position, count, channel);
            if (n > 0 || file.size() <= position) {
                return n;
            }
            awaitWritable(stallMs, stalled);
        }
    }

    private void awaitWritable(long stallMs, Runnable stalled) throws IOException {
        while (!await(SelectionKey.OP_WRITE, stallMs)) {
            stalled.run();
        }
    }

    private boolean await(int operation, long timeoutMs) throws IOException {
        key.interestOps(operation);
        int ready = selector.select(timeoutMs == NO_LIMIT ? 0 : Math.max(1, timeoutMs));
        selector.selectedKeys().clear();
        return ready > 0;
    }

    @Override
    public void close() throws IOException {
        selector.close();
        channel.close();
    }
}
