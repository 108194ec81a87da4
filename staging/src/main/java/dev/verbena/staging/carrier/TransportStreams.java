package dev.verbena.staging.carrier;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.Environment;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.ConnectionEnds;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Streams over a transport of their own, to one address or at one. What is written is put into a
 * ring of memory at the reader, which copies it out: two copies, as with TCP's socket buffers, if
 * the memory is a {@link #source}; three otherwise. A provider that is itself over sockets adds the
 * kernel's two.
 *
 * <p>Whoever has written part of something goes on with the rest of the same bytes: of a source
 * they are under way already. There is no thread: the owner calls {@link #poll} and sleeps in the
 * {@link #transport}. Owned by the thread that polls first.
 */
public final class TransportStreams implements ByteStreams, AutoCloseable {
    /** For data. */
    private static final int RING_LENGTH = 1 << 20;

    /** For acknowledgements, and what else comes back. */
    private static final int BACK_RING_LENGTH = 1 << 17;

    private static final int ACCEPT_MAX = 64;
    private static final int CONNECTIONS_MAX = 512;
    private static final int CREDITS = 16;
    private static final int RECORDS = 64;
    private static final long RECORD_CONTEXTS = 1L << 40;
    private static final long CONNECT_TIMEOUT_NS = 2_000_000_000L;
    private static final long PEER_TIMEOUT_NS = 10_000_000_000L;
    private static final int POLL_LIMIT = 64;
    private static final int CLOSE_POLLS = 1000;
    private static final long CLOSE_PAUSE_NS = 1_000_000;
    private static final String PROTOCOL = "verbena-bytes/1";

    private final Environment environment;
    private final URI address;
    private final boolean isListening;
    private final Transport transport;
    private final SourceMemory sources;
    private final UnsafeBuffer protocol = new UnsafeBuffer(PROTOCOL.getBytes(US_ASCII));
    private final Long2ObjectHashMap<CarriedStream> byConnection = new Long2ObjectHashMap<>();
    private final List<CarriedStream> all = new ArrayList<>();
    private final ArrayDeque<CarriedStream> toAccept = new ArrayDeque<>();
    private final Events events = new Events();
    private RecordOutbox outbox;
    private TransportException broken;
    private boolean isAnyClosed;
    private boolean isPolling;
    private boolean isClosed;

    private TransportStreams(Environment environment, URI address, boolean isListening) {
        this.environment = environment;
        this.address = address;
        this.isListening = isListening;
        TransportContext opening =
                environment
                        .contextFor(address, isListening)
                        .messageLengthMax(CarrierRecord.LENGTH)
                        .creditsPerConnection(CREDITS)
                        .receiveSlotCount(CONNECTIONS_MAX * CREDITS)
                        .connectionsMax(CONNECTIONS_MAX)
                        .peerTimeoutNs(PEER_TIMEOUT_NS)
                        .errorHandler(environment.errorHandler());
        this.transport = environment.openTransport(address.getScheme(), opening);
        this.sources = new SourceMemory(transport);
        if ((transport.capabilities() & Capability.PUT_NOTIFY) == 0) {
            transport.close();
            throw new TransportException(
                    address.getScheme() + ":// has no put with notification, which streams need");
        }
    }

    /**
     * Streams that peers open to this address.
     *
     * @throws TransportException if there is no such transport, or it cannot have the address
     * @throws IllegalArgumentException for a malformed address
     */
    public static TransportStreams listening(Environment environment, URI address) {
        return new TransportStreams(environment, address, true);
    }

    /**
     * Streams to this address.
     *
     * @throws TransportException if there is no such transport
     * @throws IllegalArgumentException for a malformed address
     */
    public static TransportStreams reaching(Environment environment, URI address) {
        return new TransportStreams(environment, address, false);
    }

    /** Its owner sleeps in this; null: closed. */
    public Transport transport() {
        return isClosed ? null : transport;
    }

    /** The own address, without incarnation: also who comes after this process can have it. */
    public URI uri() {
        return URI.create(transport.uri().toString().replaceAll("[?&]incarnation=[0-9a-f]+", ""));
    }

    /** Long writes out of this memory are put without a copy. It outlives this object. */
    public void source(OffHeapMemory memory) {
        sources.add(memory);
    }

    SourceMemory sources() {
        return sources;
    }

    /** Takes what has come; work done. */
    public int poll() {
        if (isClosed || isPolling || broken != null) {
            return 0;
        }
        isPolling = true;
        try {
            start();
            int work = Math.max(0, transport.poll(events, POLL_LIMIT));
            for (int i = 0; i < all.size(); i++) {
                work += all.get(i).progress();
            }
            releaseClosed();
            return work;
        } catch (TransportException e) {
            broken(e);
            return 1;
        } finally {
            isPolling = false;
        }
    }

    /** On the owner's thread. */
    private void start() {
        if (outbox == null) {
            outbox = new RecordOutbox(transport, RECORDS, CarrierRecord.LENGTH, RECORD_CONTEXTS);
            if (isListening) {
                transport.listen();
            }
        }
    }

    private void broken(TransportException e) {
        broken = e;
        environment.errorHandler().onError(e);
        all.forEach(stream -> stream.ended(e.getMessage()));
    }

    private void releaseClosed() {
        if (!isAnyClosed) {
            return;
        }
        long now = nanoTime();
        isAnyClosed = false;
        for (int i = 0; i < all.size(); i++) {
            CarriedStream stream = all.get(i);
            if (stream.isReleasable(now) && stream.release(now)) {
                if (byConnection.get(stream.connection()) == stream) {
                    byConnection.remove(stream.connection());
                }
                all.remove(i--);
            } else {
                isAnyClosed |= stream.isClosed();
            }
        }
    }

    private long nanoTime() {
        return environment.nanoClock().nanoTime();
    }

    /** One of the streams was closed. */
    void closed() {
        isAnyClosed = true;
    }

    boolean sendGreeting(long connection, int ringLength, RemoteDescriptor ring) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        CarrierRecord.greeting(outbox.buffer(), at, ringLength, ring);
        return outbox.send(connection, CarrierRecord.LENGTH) == Transport.ACCEPTED;
    }

    boolean sendRead(long connection, long position) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        CarrierRecord.read(outbox.buffer(), at, position);
        return outbox.send(connection, CarrierRecord.LENGTH) == Transport.ACCEPTED;
    }

    /** Host and port have no meaning: every stream goes to the one address. */
    @Override
    public ByteStream connect(String host, int port) {
        poll();
        CarriedStream stream = new CarriedStream(this, transport, address.toString(), nanoTime());
        all.add(stream);
        if (broken != null) {
            stream.ended(broken.getMessage());
        } else if (stream.open(BACK_RING_LENGTH)) {
            connect(stream);
        }
        return stream;
    }

    private void connect(CarriedStream stream) {
        long handle =
                transport.connect(address, protocol, 0, protocol.capacity(), 0, CONNECT_TIMEOUT_NS);
        if (handle > 0) {
            stream.connecting(handle);
            byConnection.put(handle, stream);
        } else {
            stream.ended("connect answered " + handle);
        }
    }

    /** Host and port have no meaning: it listens at the one address, from the first poll on. */
    @Override
    public Listener listen(String host, int port) {
        return new Listener() {
            @Override
            public int port() {
                return Math.max(0, transport.uri().getPort());
            }

            @Override
            public ByteStream accept() {
                poll();
                return toAccept.poll();
            }

            @Override
            public void close() {
                toAccept.forEach(CarriedStream::close);
                toAccept.clear();
            }
        };
    }

    /** Nobody is called: the owner sleeps in the {@link #transport}. */
    @Override
    public AutoCloseable onReady(Runnable wakeup) {
        return () -> {};
    }

    /**
     * Ends all streams and closes the transport. Waits up to a second for what is under way. On the
     * owner's thread.
     */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        all.forEach(CarriedStream::close);
        for (int i = 0; i < CLOSE_POLLS && broken == null && !isQuiet(); i++) {
            if (poll() == 0) {
                transport.await(transport.nanoTime() + CLOSE_PAUSE_NS);
            }
        }
        isClosed = true;
        long now = nanoTime();
        all.forEach(stream -> stream.release(now));
        try {
            CloseHelper.closeAll(sources, outbox, transport);
        } catch (IllegalStateException | TransportException e) {
            // A peer that does not answer still has some of it.
            environment.errorHandler().onError(e);
        }
    }

    private boolean isQuiet() {
        return all.isEmpty() && (outbox == null || outbox.isIdle());
    }

    private final class Events implements ConnectionEnds {
        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            boolean isOfProtocol = protocol.equals(new UnsafeBuffer(privateData, offset, length));
            if (!isOfProtocol || toAccept.size() >= ACCEPT_MAX) {
                transport.reject(connection);
                return;
            }
            CarriedStream stream =
                    new CarriedStream(
                            TransportStreams.this, transport, peer.toString(), nanoTime());
            if (!stream.open(RING_LENGTH)) {
                transport.reject(connection);
                environment.errorHandler().onError(new TransportException(stream.error()));
                return;
            }
            all.add(stream);
            stream.connecting(connection);
            byConnection.put(connection, stream);
            if (transport.accept(connection, 0) == Transport.ACCEPTED) {
                toAccept.add(stream);
            } else {
                stream.close();
            }
        }

        @Override
        public void onConnected(long connection, long context) {
            CarriedStream stream = byConnection.get(connection);
            if (stream != null) {
                stream.onConnected();
            }
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            CarriedStream stream = byConnection.get(connection);
            if (stream != null) {
                stream.onRecord(buffer, offset, length);
            }
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            CarriedStream stream = byConnection.get(connection);
            if (stream != null) {
                stream.onPiece(tag, regionId, offset, length);
            }
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            if (outbox.onCompletion(context)) {
                return;
            }
            CarriedStream stream = byConnection.get(connection);
            if (stream != null) {
                stream.onCompletion(context, status);
            }
        }

        @Override
        public void onGone(long connection, long context, String reason) {
            CarriedStream stream = byConnection.get(connection);
            if (stream != null) {
                stream.ended(reason);
            }
        }

        @Override
        public void onDisconnected(long connection, long context) {
            onGone(connection, context, "the peer closed the connection");
        }
    }
}
