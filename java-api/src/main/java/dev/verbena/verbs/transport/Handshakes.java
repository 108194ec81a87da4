package dev.verbena.verbs.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ConnectionTable;
import dev.verbena.verbs.VerbsException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;

/**
 * How connections are made and taken leave of: the calls of the contract, and the frames that the
 * side-channel loop brings. Owned by the transport's thread; frames may be put in by any.
 */
final class Handshakes implements FrameReceiver {
    private static final long PATIENCE_MIN_NS = 5_000_000_000L;

    /** Frames in one poll; a peer that writes without end must not keep the owner. */
    private static final int FRAMES_MAX = 64;

    private static final long TIMEOUT_MAX_NS = Long.MAX_VALUE / 4;

    private final Queue<ChannelFrame> frames = new ConcurrentLinkedQueue<>();
    private final TransportContext context;
    private final VerbsResources resources;
    private final SideChannelLoop loop;
    private final VerbsConnections connections;
    private final ReceivePool receives;
    private VerbsAddress own;
    private boolean isListening;
    private volatile boolean isLookDue;

    Handshakes(
            TransportContext context,
            VerbsResources resources,
            SideChannelLoop loop,
            VerbsConnections connections,
            ReceivePool receives) {
        this.context = context;
        this.resources = resources;
        this.loop = loop;
        this.connections = connections;
        this.receives = receives;
    }

    /** How long a peer may take for an answer that its program has to poll for. */
    static long patienceNs(TransportContext context) {
        return Math.max(PATIENCE_MIN_NS, context.peerTimeoutNs());
    }

    /** What this transport is called. */
    void name(VerbsAddress own) {
        this.own = own;
    }

    /** On the side-channel loop's thread. */
    @Override
    public void deliver(ChannelFrame frame) {
        frames.add(frame);
        resources.channel.wakeup();
    }

    /** On the side-channel loop's thread. */
    @Override
    public int unreadCount() {
        return frames.size();
    }

    /** On the side-channel loop's thread. The owner, should it sleep, wakes as often by itself. */
    @Override
    public void tick() {
        isLookDue = true;
    }

    /** Whether the device has not been asked for news for a while; once. */
    boolean takeLookDue() {
        boolean isDue = isLookDue;
        if (isDue) {
            isLookDue = false;
        }
        return isDue;
    }

    boolean hasFrames() {
        return !frames.isEmpty();
    }

    void listen() {
        isListening = true;
    }

    // ---- calls of the contract ----

    long connect(
            VerbsAddress peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long userContext,
            long timeoutNs) {
        if (!hasRoom()) {
            return Transport.BACK_PRESSURED;
        }
        String wrong =
                peer.job().equals(context.job())
                        ? null
                        : "job '" + peer.job() + "' is not ours, which is '" + context.job() + "'";
        PeerChannel channel = null;
        int status = Status.REFUSED;
        if (resources.isLost()) {
            wrong = resources.lost();
            status = Status.INTERNAL;
        }
        if (wrong == null) {
            try {
                channel = channelTo(peer);
            } catch (IOException | RuntimeException | OutOfMemoryError e) {
                wrong = "no socket to " + peer.host() + ":" + peer.port() + ": " + e;
                status = Status.PEER_DEAD;
            }
        }
        VerbsConnection connection = connections.add(peer.uri(), channel);
        connection.connecting(userContext);
        if (wrong != null) {
            connections.fail(connection, status, wrong);
            return connection.handle;
        }
        byte[] copy = new byte[length];
        if (length > 0) {
            privateData.getBytes(offset, copy);
        }
        try {
            prepare(connection);
            channel.awaitJoin(
                    Deadlines.after(System.nanoTime(), timeoutNs), "did not answer in time");
            channel.send(
                    Frames.hello(
                            new Frames.Hello(
                                    peer.incarnation(),
                                    peer.job(),
                                    peer.name(),
                                    own.uri(),
                                    connections.pairs().endpoint(connection),
                                    copy)));
        } catch (RuntimeException | OutOfMemoryError e) {
            connections.fail(connection, Status.INTERNAL, e.toString());
        }
        return connection.handle;
    }

    private PeerChannel channelTo(VerbsAddress peer) throws IOException {
        Supplier<InetSocketAddress> lookUp = () -> new InetSocketAddress(peer.host(), peer.port());
        return peer.isNamed() ? loop.connect(lookUp, this) : loop.connect(lookUp.get(), this);
    }

    /** A place in the table, and slots beside those that ended connections' messages keep. */
    private boolean hasRoom() {
        ConnectionTable<VerbsConnection> table = connections.table();
        return !table.isFull() && receives.hasRoom(table.count() + 1, table);
    }

    private void prepare(VerbsConnection connection) {
        ConnectionTable<VerbsConnection> table = connections.table();
        receives.reserve(table.count(), table);
        connections.pairs().make(connection);
    }

    int accept(long handle, long userContext) {
        VerbsConnection connection = connections.table().find(handle);
        if (connection == null || connection.state != VerbsConnection.OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        connection.accepted(userContext);
        try {
            prepare(connection);
            QueuePairs pairs = connections.pairs();
            pairs.join(connection, connection.endpoint);
            // Before the word is out: its answer ends the wait for it.
            connection.channel.awaitJoin(
                    System.nanoTime() + patienceNs(context), "did not confirm in time");
            connection.channel.send(Frames.accept(pairs.endpoint(connection)));
            // The peer watches us as soon as it is joined, and we may not poll for a while.
            connection.channel.tell(connections.heartbeatNs(connection));
        } catch (RuntimeException | OutOfMemoryError e) {
            connection.channel.send(Frames.refuse(e.toString()));
            connections.fail(connection, Status.INTERNAL, e.toString());
        }
        return Transport.ACCEPTED;
    }

    int reject(long handle) {
        VerbsConnection connection = connections.table().find(handle);
        if (connection == null || connection.state != VerbsConnection.OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        connection.channel.send(Frames.refuse("the peer rejected the connection"));
        connections.remove(connection);
        return Transport.ACCEPTED;
    }

    int disconnect(long handle) {
        VerbsConnection connection = connections.table().find(handle);
        if (connection == null) {
            return Transport.NOT_CONNECTED;
        }
        return switch (connection.state) {
            case VerbsConnection.OFFERED -> reject(handle);
            case VerbsConnection.CONNECTING, VerbsConnection.ACCEPTED -> {
                connection.channel.send(Frames.plain(Frames.CLOSED));
                connections.fail(connection, Status.CANCELLED, "disconnect was called");
                yield Transport.ACCEPTED;
            }
            case VerbsConnection.JOINED, VerbsConnection.OPEN ->
                    connections.leaveWhenDone(connection);
            default -> Transport.NOT_CONNECTED;
        };
    }

    // ---- frames ----

    /** Reads what has come. */
    void read() {
        for (int i = 0; i < FRAMES_MAX; i++) {
            ChannelFrame frame = frames.poll();
            if (frame == null) {
                return;
            }
            frame.channel().read();
            VerbsConnection connection = frame.channel().connection();
            try {
                if (frame.kind() == Frames.HELLO) {
                    hello(frame);
                } else if (connection != null && connection.state != VerbsConnection.ENDED) {
                    take(connection, frame);
                }
            } catch (IllegalArgumentException | BufferUnderflowException e) {
                misunderstood(frame, connection, e);
            }
        }
    }

    private void misunderstood(ChannelFrame frame, VerbsConnection connection, RuntimeException e) {
        String what = "frame " + frame.kind() + ": " + e.getMessage();
        if (connection == null) {
            frame.channel().send(Frames.refuse(what));
            frame.channel().close();
        } else {
            connections.corrupt(connection, what);
        }
    }

    private void hello(ChannelFrame frame) {
        PeerChannel channel = frame.channel();
        Frames.Hello hello = Frames.hello(frame.body());
        ByteBuffer refusal = refusal(hello);
        if (refusal != null) {
            channel.send(refusal);
            channel.close();
            return;
        }
        VerbsConnection connection = connections.add(hello.from(), channel);
        connection.offered(hello.endpoint());
        connections.events().requested(connection, hello.privateData());
    }

    private ByteBuffer refusal(Frames.Hello hello) {
        if (!hello.job().equals(own.job()) || !hello.name().equals(own.name())) {
            return Frames.refuse(
                    "job '" + own.job() + "', name '" + own.name() + "' is who is here");
        }
        if (hello.target() != 0 && hello.target() != own.incarnation()) {
            return Frames.refuse(
                    "another incarnation is here, " + Long.toHexString(own.incarnation()));
        }
        if (!isListening) {
            return Frames.plain(Frames.DEAF);
        }
        if (resources.isLost()) {
            return Frames.refuse(resources.lost());
        }
        return hasRoom() ? null : Frames.refuse("it has as many connections as it may");
    }

    private void take(VerbsConnection connection, ChannelFrame frame) {
        switch (frame.kind()) {
            case ChannelFrame.ENDED -> ended(connection, frame);
            case Frames.ACCEPT -> accepted(connection, Endpoint.decode(frame.body()));
            case Frames.READY -> {
                Frames.check(connection.state >= VerbsConnection.ACCEPTED, "READY");
                connections.joined(connection);
            }
            case Frames.REFUSE -> {
                Frames.check(connection.state == VerbsConnection.CONNECTING, "REFUSE");
                connections.fail(connection, Status.REFUSED, Frames.text(frame.body()));
            }
            case Frames.DEAF -> {
                Frames.check(connection.state == VerbsConnection.CONNECTING, "DEAF");
                connections.fail(
                        connection, Status.NOT_LISTENING, connection.peer + " does not listen");
            }
            case Frames.BYE -> connections.left(connection);
            case Frames.BYE_DONE -> {
                if (connection.state == VerbsConnection.LEFT) {
                    connections.remove(connection);
                }
            }
            case Frames.REPAIR -> connections.repair(connection, Frames.repair(frame.body()));
            case Frames.REPAIRED -> connections.repaired(connection, Frames.repaired(frame.body()));
            default -> connections.die(connection, "is closed", true);
        }
    }

    private void accepted(VerbsConnection connection, Endpoint peer) {
        Frames.check(connection.state == VerbsConnection.CONNECTING, "ACCEPT");
        try {
            connections.pairs().join(connection, peer);
        } catch (VerbsException e) {
            connections.fail(connection, Status.PEER_DEAD, e.getMessage());
            return;
        }
        connection.channel.send(Frames.plain(Frames.READY));
        connections.joined(connection);
    }

    private void ended(VerbsConnection connection, ChannelFrame frame) {
        switch (connection.state) {
            case VerbsConnection.OFFERED, VerbsConnection.CONNECTING, VerbsConnection.ACCEPTED ->
                    connections.fail(
                            connection, whyNot(connection, frame), "the peer " + frame.reason());
            case VerbsConnection.LEFT -> connections.remove(connection);
            default -> connections.die(connection, frame.reason(), false);
        }
        if (frame.status() == Status.INTERNAL) {
            resources.report("peer " + connection.peer + " " + frame.reason());
        }
    }

    /** An incarnation that is gone does not come back; without one, somebody may still come. */
    private static int whyNot(VerbsConnection connection, ChannelFrame frame) {
        boolean isGone =
                frame.status() == Status.NOT_LISTENING
                        && VerbsAddress.of(connection.peer).incarnation() != 0;
        return isGone ? Status.REFUSED : frame.status();
    }

    /** Who has come and was not read yet hears that nobody will; when no frame is read any more. */
    void close() {
        loop.endAll(this);
    }

    void clear() {
        frames.clear();
    }
}
