package dev.verbena.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Calls on a {@link Transport} that wait until what was asked for has happened, for programs whose
 * course is simple: connect or accept, put, get, send, receive. No handler and no event class is
 * needed. Such programs allocate, and do one thing at a time; what is to be fast, or to go on while
 * something is under way, posts and polls itself.
 *
 * <p>Each call waits at most for the time limit ({@link #timeoutNs}), then it throws a {@link
 * TransportException} that names what it waited for. What fails, or can no longer happen, throws
 * one at once.
 *
 * <p>Belongs to the transport's owner thread. Nothing else may poll the transport. It is polled
 * within these calls only: a program that makes none for long leaves its peers without credits.
 */
public final class BlockingCalls implements AutoCloseable {
    private static final long TIMEOUT_NS = 10_000_000_000L;

    /** Between two attempts to connect to who does not listen yet. */
    private static final long RETRY_NS = 10_000_000L;

    private static final long FAR_NS = 1L << 60;
    private static final long SLEEP_MAX_NS = 1_000_000_000L;

    /** Between the last completion of a lost peer's connection and the event that says why. */
    private static final long LOSS_NS = 1_000_000_000L;

    private static final int POLL_LIMIT = 64;

    private final Transport transport;
    private final Events events = new Events();
    private final Peer nobody = new Peer();
    private final Long2ObjectHashMap<Peer> peers = new Long2ObjectHashMap<>();
    private final ArrayDeque<Long> requests = new ArrayDeque<>();
    private long timeoutNs = TIMEOUT_NS;
    private long context = Long.MIN_VALUE;
    private boolean isCompleted;
    private int status;
    private long value;
    private long completedOn;

    /** Waits on this transport from now on, which is closed with this. */
    public BlockingCalls(Transport transport) {
        this.transport = Objects.requireNonNull(transport);
    }

    /** Opens a transport as {@link Transports#open}. */
    public static BlockingCalls open(String scheme, TransportContext context) {
        return new BlockingCalls(Transports.open(scheme, context));
    }

    /** Posts an operation of the transport. */
    @FunctionalInterface
    public interface Posting {
        /**
         * Calls one of the transport's operations.
         *
         * @param context to be given to it
         * @return what it answers
         */
        int post(long context);
    }

    /** A {@code putNotify} of the peer: all its bytes are visible. */
    public record Notification(int tag, long regionId, long offset, long length) {}

    /** How long each call waits, 10 s at first. {@link Long#MAX_VALUE}: indefinitely. */
    public BlockingCalls timeoutNs(long newTimeoutNs) {
        timeoutNs = newTimeoutNs;
        return this;
    }

    /** What the calls are made on: for its address, memory and limits. */
    public Transport transport() {
        return transport;
    }

    /** As {@link #connect(URI, DirectBuffer, int, int)}, without private data. */
    public long connect(URI peer) {
        return connect(peer, new UnsafeBuffer(), 0, 0);
    }

    /**
     * Connects. A peer that is not there, or does not listen yet, is tried again until the time
     * limit ends ({@link Status#NOT_LISTENING}); who refuses is not asked again.
     *
     * @return the connection
     */
    public long connect(URI peer, DirectBuffer privateData, int offset, int length) {
        String what = "connect to " + peer;
        long deadlineNs = deadlineNs();
        while (true) {
            long leftNs = Math.max(1, deadlineNs - transport.nanoTime());
            long handle = transport.connect(peer, privateData, offset, length, 0, leftNs);
            if (handle == Transport.CLOSED) {
                throw new TransportException(what + ": the transport is closed");
            }
            Peer mine = new Peer();
            mine.reason = TracingTransport.answerName(Transport.BACK_PRESSURED);
            if (handle > 0) {
                peers.put(handle, mine);
                // The transport itself keeps the time limit of an attempt.
                await(what, deadlineNs + FAR_NS, () -> mine.isConnected || mine.isEnded);
                if (mine.isConnected) {
                    return handle;
                }
                peers.remove(handle);
            }
            boolean mayCome = handle < 0 || mine.status == Status.NOT_LISTENING;
            if (!mayCome || transport.nanoTime() - deadlineNs >= 0) {
                throw new TransportException(what + ": " + mine.reason);
            }
            pause(Deadlines.earlier(deadlineNs, transport.nanoTime() + RETRY_NS));
        }
    }

    /**
     * Listens from now on, and waits for the next peer that connects, which is accepted.
     *
     * @return the connection
     */
    public long accept() {
        transport.listen();
        long deadlineNs = deadlineNs();
        while (true) {
            await("somebody who connects", deadlineNs, () -> !requests.isEmpty());
            long handle = requests.remove();
            Peer mine = new Peer();
            peers.put(handle, mine);
            if (transport.accept(handle, 0) == Transport.ACCEPTED) {
                await("the accepted peer", deadlineNs, () -> mine.isConnected || mine.isEnded);
                if (mine.isConnected) {
                    return handle;
                }
            }
            peers.remove(handle); // it has given up meanwhile
        }
    }

    /**
     * Waits for an operation, whatever it is: {@code complete("get", context ->
     * transport.get(connection, region, 0, descriptor, 0, 8, context, 0))}. While the transport is
     * back-pressured it is posted again. After a time-out it may still be under way, and its region
     * cannot be closed until the transport is.
     *
     * @param what named in the exception
     * @return value of the completion: bytes moved, of atomics the former content
     */
    public long complete(String what, Posting posting) {
        long mine = ++context;
        isCompleted = false;
        long deadlineNs = deadlineNs();
        int[] answer = new int[1];
        await(
                what + " to be accepted",
                deadlineNs,
                () -> (answer[0] = posting.post(mine)) != Transport.BACK_PRESSURED);
        if (answer[0] != Transport.ACCEPTED) {
            throw new TransportException(what + ": " + TracingTransport.answerName(answer[0]));
        }
        await(what, deadlineNs, () -> isCompleted);
        if (status != Status.OK) {
            throw new TransportException(what + " ended with " + Status.name(status) + whyLost());
        }
        return value;
    }

    /** What the event about a lost peer says, which follows its completions; may be empty. */
    private String whyLost() {
        Peer peer = status == Status.PEER_DEAD ? peers.get(completedOn) : null;
        if (peer == null) {
            return "";
        }
        long untilNs = transport.nanoTime() + LOSS_NS;
        while (!peer.isEnded && transport.nanoTime() - untilNs < 0) {
            if (poll() == 0) {
                transport.await(untilNs);
            }
        }
        return peer.reason == null ? "" : ": " + peer.reason;
    }

    /** Writes into the peer's memory; the bytes are there when this returns. */
    public void put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length) {
        complete(
                "put",
                c -> transport.put(connection, source, offset, target, targetOffset, length, c, 0));
    }

    /** Reads the peer's memory; the bytes are here when this returns. */
    public void get(
            long connection,
            RegisteredRegion to,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length) {
        complete(
                "get",
                c -> transport.get(connection, to, offset, source, sourceOffset, length, c, 0));
    }

    /** Sends a message; the region may be changed when this returns. */
    public void send(long connection, RegisteredRegion source, long offset, long length) {
        complete("send", mine -> transport.send(connection, source, offset, length, mine, 0));
    }

    /**
     * Waits for the next message of a connection, those that came during other calls first.
     *
     * @return a copy of it, or null if the peer has disconnected and no message is left
     * @throws TransportException also if the peer was lost, after its last message
     */
    public DirectBuffer receive(long connection) {
        Peer peer = peer(connection);
        await("a message", deadlineNs(), () -> !peer.messages.isEmpty() || peer.isEnded);
        Message message = peer.messages.poll();
        if (message == null) {
            peer.requireOrderly();
            return null;
        }
        transport.release(message.token);
        return message.copy;
    }

    /** As {@link #receive}, for a {@code putNotify}. */
    public Notification awaitNotification(long connection) {
        Peer peer = peer(connection);
        await("a notification", deadlineNs(), () -> !peer.notices.isEmpty() || peer.isEnded);
        if (peer.notices.isEmpty()) {
            peer.requireOrderly();
        }
        return peer.notices.poll();
    }

    /** Ends a connection and drops what it has received; also one that the peer has ended. */
    public void disconnect(long connection) {
        Peer peer = peer(connection);
        peer.messages.forEach(message -> transport.release(message.token));
        peers.remove(connection);
        if (!peer.isEnded) {
            transport.disconnect(connection);
        }
    }

    /** Closes the transport. */
    @Override
    public void close() {
        transport.close();
    }

    private Peer peer(long connection) {
        Peer peer = peers.get(connection);
        if (peer == null) {
            throw new IllegalArgumentException("no connection of these calls: " + connection);
        }
        return peer;
    }

    private long deadlineNs() {
        return Deadlines.after(transport.nanoTime(), timeoutNs);
    }

    private void pause(long untilNs) {
        while (transport.nanoTime() - untilNs < 0) {
            if (poll() == 0) {
                transport.await(untilNs);
            }
        }
    }

    private void await(String what, long deadlineNs, BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            if (poll() > 0) {
                continue;
            }
            long nowNs = transport.nanoTime();
            if (deadlineNs - nowNs <= 0) {
                throw new TransportException(
                        "%s waited for %s longer than %s ns"
                                .formatted(transport.uri(), what, timeoutNs));
            }
            transport.await(Deadlines.earlier(deadlineNs, nowNs + SLEEP_MAX_NS));
        }
    }

    private int poll() {
        int count = transport.poll(events, POLL_LIMIT);
        if (count == Transport.CLOSED) {
            throw new TransportException("closed: " + transport.uri());
        }
        return count;
    }

    /**
     * Copied as it comes: its slot, which is held until it is received, goes with the transport.
     */
    private record Message(DirectBuffer copy, long token) {}

    /** One end of a connection. */
    private static final class Peer {
        final ArrayDeque<Message> messages = new ArrayDeque<>();
        final ArrayDeque<Notification> notices = new ArrayDeque<>();
        boolean isConnected;
        boolean isEnded;
        int status;
        String reason;

        void requireOrderly() {
            if (status != Status.OK) {
                throw new TransportException("the peer was lost: " + reason);
            }
        }
    }

    /** Of an event; a connection that was left has no more of interest. */
    private Peer known(long connection) {
        return peers.getOrDefault(connection, nobody);
    }

    private final class Events implements TransportHandler {
        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            requests.add(connection);
        }

        @Override
        public void onConnected(long connection, long ignored) {
            known(connection).isConnected = true;
        }

        @Override
        public void onConnectFailed(long connection, long ignored, int why, String reason) {
            end(connection, why, Status.name(why) + ", " + reason);
        }

        @Override
        public void onDisconnected(long connection, long ignored) {
            end(connection, Status.OK, null);
        }

        @Override
        public void onPeerLost(long connection, long ignored, String reason) {
            end(connection, Status.PEER_DEAD, reason);
        }

        private void end(long connection, int why, String reason) {
            Peer peer = known(connection);
            peer.isEnded = true;
            peer.status = why;
            peer.reason = reason;
        }

        @Override
        public void onMessage(
                long connection,
                long ignored,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            transport.retain(token);
            UnsafeBuffer copy = new UnsafeBuffer(new byte[length]);
            copy.putBytes(0, buffer, offset, length);
            known(connection).messages.add(new Message(copy, token));
        }

        @Override
        public void onNotify(
                long connection, long ignored, int tag, long regionId, long offset, long length) {
            known(connection).notices.add(new Notification(tag, regionId, offset, length));
        }

        @Override
        public void onCompletion(long connection, int operation, long mine, int how, long moved) {
            if (mine == context) {
                isCompleted = true;
                completedOn = connection;
                status = how;
                value = moved;
            }
        }
    }
}
