package dev.verbena.verbs.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.transport.Status;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The TCP socket of one connection: frames both ways, heartbeats, and the news that the peer is
 * gone. What is documented for any thread may be called by any; the rest is the side-channel
 * loop's.
 */
final class PeerChannel {
    private static final int OUT_BYTES_MAX = 1 << 16;
    private static final int UNREAD_MAX = 64;
    private static final int FORGIVEN_SHARE = 8;
    private static final long LINGER_NS = 1_000_000_000L;

    private final SideChannelLoop loop;
    private final SocketChannel socket;
    private final FrameReceiver receiver;
    private final ByteBuffer in =
            ByteBuffer.allocate(Integer.BYTES + Frames.LENGTH_MAX).order(ByteOrder.LITTLE_ENDIAN);
    private final ArrayDeque<ByteBuffer> out = new ArrayDeque<>();
    private final AtomicInteger unread = new AtomicInteger();
    private SelectionKey key;
    private int outBytes;
    private long heartbeatNs;
    private long silenceMaxNs;
    private long lastSaidNs;
    private long lastHeardNs;
    private long deadlineNs;
    private boolean hasDeadline;
    private String deadlineReason = "";

    /** The deadline is that of the peer's word that its pairs are there, or joined. */
    private boolean isJoinAwaited;

    private boolean isConnecting;
    private boolean isClosing;
    private boolean isEnded;

    /** True until the first frame of who connected to us. */
    private boolean isStranger;

    /** Whose it is, if anybody's. Its owner's thread's. */
    private VerbsConnection connection;

    PeerChannel(
            SideChannelLoop loop,
            SocketChannel socket,
            FrameReceiver receiver,
            boolean isStranger) {
        this.loop = loop;
        this.socket = socket;
        this.receiver = receiver;
        this.isStranger = isStranger;
    }

    // ---- any thread ----

    /** Sends a frame, in order. */
    void send(ByteBuffer frame) {
        loop.execute(() -> queue(frame));
    }

    /** From now on the peer is told that we live, and must tell that it does. */
    void watch(long heartbeatNs, long silenceMaxNs) {
        loop.execute(
                () -> {
                    this.heartbeatNs = heartbeatNs;
                    this.silenceMaxNs = silenceMaxNs;
                    lastHeardNs = System.nanoTime();
                    hasDeadline = false;
                    queue(Frames.plain(Frames.HEARTBEAT));
                });
    }

    /** From now on the peer gets heartbeats; it may itself still be silent. */
    void tell(long heartbeatNs) {
        loop.execute(() -> this.heartbeatNs = heartbeatNs);
    }

    /** The channel ends at that time, unless it is watched or closed before. */
    void deadline(long deadlineNs, String reason) {
        loop.execute(() -> setDeadline(deadlineNs, reason));
    }

    /**
     * The same, and the peer's ACCEPT or READY is in time when it is here: the owner, who reads it,
     * may poll much later.
     */
    void awaitJoin(long deadlineNs, String reason) {
        loop.execute(
                () -> {
                    setDeadline(deadlineNs, reason);
                    isJoinAwaited = true;
                });
    }

    /** Closes when what was sent is out; no frame tells of it. */
    void close() {
        loop.execute(this::closeWhenSent);
    }

    /** The owner has read a frame of this channel. */
    void read() {
        unread.decrementAndGet();
    }

    // ---- the owner ----

    /** From now on it is the channel of this connection. */
    void attach(VerbsConnection connection) {
        this.connection = connection;
    }

    /** It is nobody's channel any more. */
    void detach() {
        connection = null;
    }

    VerbsConnection connection() {
        return connection;
    }

    // ---- side-channel loop ----

    void register(SelectionKey key, boolean isConnecting) {
        this.key = key;
        this.isConnecting = isConnecting;
        lastSaidNs = lastHeardNs = System.nanoTime();
        flush(); // what was said while its name was looked up
    }

    void setDeadline(long deadlineNs, String reason) {
        this.deadlineNs = deadlineNs;
        hasDeadline = true;
        isJoinAwaited = false;
        deadlineReason = reason;
    }

    boolean isEnded() {
        return isEnded;
    }

    boolean isOf(FrameReceiver receiver) {
        return this.receiver == receiver;
    }

    boolean isStranger() {
        return isStranger;
    }

    void closeWhenSent() {
        if (isEnded || isClosing) {
            return;
        }
        isClosing = true;
        setDeadline(System.nanoTime() + LINGER_NS, "closed");
        flush();
    }

    /** The owner is gone; nothing happens if it has closed it itself. */
    void closeInOrder() {
        queue(Frames.plain(Frames.CLOSED));
        closeWhenSent();
    }

    private void queue(ByteBuffer frame) {
        if (isEnded || isClosing) {
            return;
        }
        if (outBytes > OUT_BYTES_MAX) {
            end(Status.PEER_DEAD, "does not read what it is told");
            return;
        }
        out.add(frame);
        outBytes += frame.remaining();
        lastSaidNs = System.nanoTime();
        flush();
    }

    private void flush() {
        if (isConnecting || key == null) {
            return;
        }
        try {
            while (!out.isEmpty()) {
                ByteBuffer first = out.peek();
                outBytes -= socket.write(first);
                if (first.hasRemaining()) {
                    break;
                }
                out.poll();
            }
            if (out.isEmpty() && isClosing) {
                drop();
            } else if (key.isValid()) {
                int write = out.isEmpty() ? 0 : SelectionKey.OP_WRITE;
                key.interestOps(SelectionKey.OP_READ | write);
            }
        } catch (IOException e) {
            end(Status.PEER_DEAD, "is gone: " + e.getMessage());
        }
    }

    /** The selector found something to do. */
    void onReady() {
        if (isEnded || !key.isValid()) {
            return;
        }
        int ready = key.readyOps();
        if ((ready & SelectionKey.OP_CONNECT) != 0) {
            finishConnect();
        }
        if (!isEnded && (ready & SelectionKey.OP_READ) != 0) {
            readFrames();
        }
        if (!isEnded && (ready & SelectionKey.OP_WRITE) != 0) {
            flush();
        }
    }

    private void finishConnect() {
        try {
            if (socket.finishConnect()) {
                isConnecting = false;
                key.interestOps(SelectionKey.OP_READ);
                flush();
            }
        } catch (java.net.ConnectException e) {
            end(Status.NOT_LISTENING, "nobody listens there: " + e.getMessage());
        } catch (IOException e) {
            end(Status.PEER_DEAD, "cannot be reached: " + e.getMessage());
        }
    }

    private void readFrames() {
        try {
            int got = socket.read(in);
            if (got > 0) {
                lastHeardNs = System.nanoTime();
            }
            in.flip();
            while (!isEnded && takeFrame()) {
                // Until there is no whole one.
            }
            in.compact();
            if (got < 0 && !isEnded) {
                end(Status.PEER_DEAD, "closed its socket without a word");
            }
        } catch (IOException e) {
            end(Status.PEER_DEAD, "is gone: " + e.getMessage());
        }
    }

    private boolean takeFrame() {
        if (in.remaining() < Integer.BYTES) {
            return false;
        }
        int length = in.getInt(in.position());
        if (length < 1 || length > Frames.LENGTH_MAX) {
            end(Status.INTERNAL, "wrote a frame of " + length + " bytes");
            return false;
        }
        if (in.remaining() < Integer.BYTES + length) {
            return false;
        }
        in.getInt();
        byte kind = in.get();
        byte[] body = new byte[length - 1];
        in.get(body);
        if (kind != Frames.HEARTBEAT || isStranger) {
            take(kind, body);
        }
        return true;
    }

    private void take(byte kind, byte[] body) {
        if (kind < Frames.HELLO
                || kind > Frames.KIND_MAX
                || (kind == Frames.HELLO) != isStranger
                || unread.get() >= UNREAD_MAX) {
            end(Status.INTERNAL, "wrote a frame of kind " + kind + " that is out of place");
            return;
        }
        if (isStranger) {
            isStranger = false;
            hasDeadline = false;
        }
        if (isJoinAwaited && (kind == Frames.ACCEPT || kind == Frames.READY)) {
            isJoinAwaited = false;
            hasDeadline = false;
        }
        unread.incrementAndGet();
        ByteBuffer text = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        receiver.deliver(new ChannelFrame(this, kind, text, Status.OK, ""));
    }

    /** This process was itself held up for a while: what peers said is still to be read. */
    void forgive(long lateNs, long nowNs) {
        if (silenceMaxNs > 0 && lateNs > silenceMaxNs / FORGIVEN_SHARE) {
            lastHeardNs = nowNs;
        }
    }

    /** What time demands; answers when to look again, at most a second later. */
    long onTime(long nowNs) {
        long nextNs = nowNs + LINGER_NS;
        if (hasDeadline) {
            if (nowNs - deadlineNs >= 0) {
                if (isClosing || isStranger) {
                    drop();
                } else {
                    end(Status.TIMED_OUT, deadlineReason);
                }
                return nextNs;
            }
            nextNs = Deadlines.earlier(nextNs, deadlineNs);
        }
        if (silenceMaxNs > 0 && !isClosing) {
            if (nowNs - lastHeardNs > silenceMaxNs) {
                end(Status.PEER_DEAD, "was silent for longer than " + silenceMaxNs + " ns");
                return nextNs;
            }
            nextNs = Deadlines.earlier(nextNs, lastHeardNs + silenceMaxNs + 1);
        }
        if (heartbeatNs > 0 && !isClosing) {
            if (nowNs - lastSaidNs >= heartbeatNs) {
                queue(Frames.plain(Frames.HEARTBEAT));
            }
            nextNs = Deadlines.earlier(nextNs, lastSaidNs + heartbeatNs);
        }
        return nextNs;
    }

    /** Ends and tells the owner. */
    void end(int status, String reason) {
        if (isEnded) {
            return;
        }
        boolean isTold = !isClosing && !isStranger;
        drop();
        if (isTold) {
            receiver.deliver(new ChannelFrame(this, ChannelFrame.ENDED, null, status, reason));
        }
    }

    private void drop() {
        isEnded = true;
        out.clear();
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no use any more, and nothing can be done.
            outBytes = 0;
        }
    }
}
