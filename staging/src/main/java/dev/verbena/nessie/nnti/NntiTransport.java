package dev.verbena.nessie.nnti;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.Predicate;
import org.agrona.MutableDirectBuffer;

/**
 * NNTI over a transport of the contract: connections, buffers, operations and waiting
 * (specification section 1). Operations answer {@code OK} once they are under way, or at once what
 * is wrong; how they ended is in their work request. None of them blocks; only {@code connect} and
 * the {@code await} calls do, and these progress everything meanwhile.
 *
 * <p>Owned by the transport's thread; only {@link #interrupt} and {@link #wakeup} may be called by
 * others. Operations, progress and waiting allocate nothing, once queues have grown.
 */
public final class NntiTransport implements AutoCloseable {
    /** Timeout: without end. */
    public static final long NEVER = -1;

    /** Longest address as text, characters. */
    public static final int URL_LENGTH_MAX = 127;

    private static final Map<String, NntiTransport> OPEN =
            Collections.synchronizedMap(new HashMap<>());

    private static final int POLL_LIMIT = 64;
    private static final int SPINS = 200;
    private static final long PAUSE_NS = 1_000_000;
    private static final long CLOSE_NS = 1_000_000_000;

    private final Transport transport;
    private final NntiOptions options;
    private final Postings postings;
    private final Arrivals arrivals;
    private final Connections connections;
    private final Variables variables;
    private final BufferTable buffers;
    private volatile boolean isInterrupted;
    private boolean isOpen = true;

    /** Takes over a transport, which is closed with this, and listens. */
    public NntiTransport(Transport transport, NntiOptions options) {
        transport.listen(); // before there is memory: a transport that has some cannot be closed
        this.transport = transport;
        this.options = options;
        this.postings = new Postings(transport, options);
        this.variables = new Variables(transport, options.variableCount());
        this.arrivals = new Arrivals(transport, postings, variables);
        this.connections =
                new Connections(transport, postings, arrivals, options.peersMax(), variables);
        this.buffers = new BufferTable(transport, arrivals, postings, connections.id);
    }

    /**
     * The transport of this scheme that the process has, opened if there is none. Closing it lets
     * the next call open another.
     */
    public static NntiTransport init(String scheme, TransportContext context, NntiOptions options) {
        return OPEN.computeIfAbsent(
                scheme, key -> new NntiTransport(Transports.open(key, context), options));
    }

    /** Whether {@link #init} has opened a transport of this scheme that is not closed. */
    public static boolean isInitialized(String scheme) {
        return OPEN.containsKey(scheme);
    }

    /**
     * Own address.
     *
     * @throws NntiException {@code EMSGSIZE} if it is longer than {@link #URL_LENGTH_MAX}
     */
    public String url() {
        String url = transport.uri().toString();
        if (url.length() > URL_LENGTH_MAX) {
            throw new NntiException(
                    NntiResult.EMSGSIZE, "the address has " + url.length() + " characters: " + url);
        }
        return url;
    }

    /** Identifies this process to its peers. */
    public long id() {
        return connections.id;
    }

    /** Longest send without a destination, bytes. */
    public int messageLengthMax() {
        return transport.limits().messageLengthMax() - Messages.DATA_OFFSET;
    }

    /** The contract's transport; the caller may neither poll nor close it. */
    public Transport transport() {
        return transport;
    }

    // ---- connections

    /**
     * Starts to connect; {@link NntiPeer#state()} says how it goes.
     *
     * @throws NntiException {@code EINVAL} for an address of another scheme, or none
     */
    public NntiPeer startConnect(String url, long timeoutNs) {
        requireOpen();
        return connections.connect(url, timeoutNs);
    }

    /**
     * Connects within so many milliseconds.
     *
     * @throws NntiException naming why not: {@code ETIMEDOUT}, {@code EPERM} (another protection
     *     domain, or rejected), {@code EIO}, {@code EINVAL}, {@code EINTR}
     */
    public NntiPeer connect(String url, long timeoutMs) {
        NntiPeer peer = startConnect(url, timeoutNs(timeoutMs));
        NntiResult waited = await(() -> peer.state() != NntiPeer.State.CONNECTING, timeoutMs);
        if (waited != NntiResult.OK) {
            connections.disconnect(peer);
            throw new NntiException(waited, "connect to " + url);
        }
        if (peer.state() == NntiPeer.State.CLOSED) {
            throw new NntiException(peer.result(), "connect to " + url + ": " + peer.reason());
        }
        return peer;
    }

    /** Ends a connection; operations on the peer fail from now on. */
    public void disconnect(NntiPeer peer) {
        connections.disconnect(peer);
    }

    // ---- buffers

    /** Memory of the library: so many elements of so many bytes. See {@link BufferFlags}. */
    public NntiBuffer alloc(int elementSize, int elementCount, int flags) {
        requireOpen();
        return buffers.alloc(elementSize, elementCount, flags);
    }

    /** Memory of the caller, pinned until {@link #unregister}. */
    public NntiBuffer register(OffHeapMemory memory, int flags) {
        return registerSegments(List.of(memory), flags);
    }

    /** One buffer over several pieces of memory; offsets run over all of them. */
    public NntiBuffer registerSegments(List<? extends OffHeapMemory> segments, int flags) {
        requireOpen();
        return buffers.registerSegments(segments, flags);
    }

    /**
     * A region of {@link #transport} as a buffer: nothing is copied or registered again. Its rights
     * say what peers may do. {@link #unregister} closes it.
     */
    public NntiBuffer wrap(RegisteredRegion region) {
        requireOpen();
        return buffers.wrap(region);
    }

    /**
     * Takes a buffer away from peers and gives its memory back. What is outstanding on it ends with
     * {@code ECANCELED}, or as it ended if it had begun. Messages that wait for a slot of a receive
     * queue are kept for the next one; there a message that is longer than its elements arrives as
     * an event with {@code EMSGSIZE}. Idempotent.
     */
    public void unregister(NntiBuffer buffer) {
        buffers.unregister(buffer);
    }

    // ---- operations

    /**
     * Sends the whole buffer. Without a destination the work request ends when the peer has said
     * that it takes the message: {@code ENOENT} if it has neither a receive queue nor a handler,
     * {@code EMSGSIZE} if its queue has shorter elements. Then the message was dropped there.
     *
     * @param destination a buffer of the peer; absent or null: its receive queue
     * @param request null: one that {@link #await(NntiBuffer, long, NntiStatus)} returns
     */
    public NntiResult send(
            NntiPeer peer, NntiBuffer source, BufferHandle destination, WorkRequest request) {
        boolean isAbsent = destination == null || destination.isAbsent();
        long length = source.length();
        return length > (isAbsent ? messageLengthMax() : destination.length())
                ? NntiResult.EMSGSIZE
                : postings.move(
                        NntiOperation.SEND, peer, source, 0, length, destination, 0, request);
    }

    /** Writes into a peer's buffer; it learns of that as {@link WorkRequest#targetEvent} says. */
    public NntiResult put(
            NntiPeer peer,
            NntiBuffer source,
            long offset,
            long length,
            BufferHandle target,
            long targetOffset,
            WorkRequest request) {
        return postings.move(
                NntiOperation.PUT, peer, source, offset, length, target, targetOffset, request);
    }

    /** Reads a buffer of the peer; it learns of it as of a {@link #put}. */
    public NntiResult get(
            NntiPeer peer,
            BufferHandle source,
            long sourceOffset,
            long length,
            NntiBuffer into,
            long offset,
            WorkRequest request) {
        return postings.move(
                NntiOperation.GET, peer, into, offset, length, source, sourceOffset, request);
    }

    /**
     * Writes a buffer from its beginning into several of the peer, one behind the other, as one
     * operation. Allocates; {@link BufferHandle#join} and {@link #put} do not.
     */
    public NntiResult scatter(
            NntiPeer peer, NntiBuffer from, long bytes, List<BufferHandle> to, WorkRequest work) {
        return put(peer, from, 0, bytes, new BufferHandle().join(to), 0, work);
    }

    /** Reads several buffers of the peer, one behind the other; see {@link #scatter}. */
    public NntiResult gather(
            NntiPeer peer, List<BufferHandle> from, long bytes, NntiBuffer to, WorkRequest work) {
        return get(peer, new BufferHandle().join(from), 0, bytes, to, 0, work);
    }

    // ---- atomic operations on 8 bytes; ENOTSUP if the transport has none

    /** Adds to a variable of the peer; the completed status has what was there before as length. */
    public NntiResult fetchAdd(NntiPeer peer, int index, long delta, WorkRequest request) {
        return fetchAdd(peer, peer.variables, 8L * index, delta, request);
    }

    /**
     * Adds to 8 aligned bytes of one segment of a peer's buffer; it does not learn of that. {@code
     * EPERM}: the buffer lacks the flag {@code ATOMICS}.
     */
    public NntiResult fetchAdd(
            NntiPeer peer, BufferHandle to, long at, long delta, WorkRequest request) {
        request.operands(delta, 0);
        return postings.atomic(NntiOperation.FETCH_ADD, peer, to, at, request);
    }

    /** Stores {@code update} if {@code expected} is there; the status has what was there before. */
    public NntiResult compareSwap(
            NntiPeer peer, int index, long expected, long update, WorkRequest work) {
        return compareSwap(peer, peer.variables, 8L * index, expected, update, work);
    }

    /** As {@link #compareSwap(NntiPeer, int, long, long, WorkRequest)} in a buffer of the peer. */
    public NntiResult compareSwap(
            NntiPeer peer, BufferHandle to, long at, long expected, long update, WorkRequest work) {
        work.operands(expected, update);
        return postings.atomic(NntiOperation.COMPARE_SWAP, peer, to, at, work);
    }

    /** Reads an own variable; {@link IndexOutOfBoundsException}: there is none of this index. */
    public long variable(int index) {
        return variables.get(index);
    }

    /** Is called with the index of a variable after each atomic operation of a peer on it. */
    public void onVariableChanged(IntConsumer callback) {
        arrivals.onChanged(callback);
    }

    // ---- receiving

    /** Takes sends without a destination from now on, if there is no receive queue. */
    public void onMessage(MessageHandler handler) {
        arrivals.handler(handler);
    }

    /** A work request that the next arrival in this buffer completes. */
    public NntiResult receive(NntiBuffer buffer, WorkRequest request) {
        if (!buffer.isTarget(options.hasTargetEvents())) {
            return NntiResult.EINVAL;
        }
        buffer.receive(request);
        return NntiResult.OK;
    }

    /** Gives a slot of a receive queue back, once what arrived in it was read. */
    public void release(NntiStatus received) {
        if (received.buffer() != null && received.result() == NntiResult.OK) {
            received.buffer().freeSlot(received.offset());
        }
    }

    /**
     * Gives an operation up, if it has not begun: it is then complete with {@code ECANCELED}.
     * {@code EAGAIN}: it has begun, or has ended.
     */
    public NntiResult cancel(WorkRequest request) {
        return postings.cancel(request) ? NntiResult.OK : NntiResult.EAGAIN;
    }

    // ---- progress and waiting

    /** Takes what has come and posts what waits, for all buffers and peers; work done. */
    public int progress() {
        if (!isOpen) {
            return 0;
        }
        int work = Math.max(0, transport.poll(connections, POLL_LIMIT));
        work += connections.doWork() + postings.doWork() + arrivals.doWork();
        buffers.closePending();
        return work;
    }

    /**
     * Waits until the operation has ended.
     *
     * @param timeoutMs milliseconds; 0 looks once, {@link #NEVER} waits without end
     * @return how the operation ended; {@code ETIMEDOUT} or {@code EINTR}: it has not
     */
    public NntiResult await(WorkRequest request, long timeoutMs) {
        if (request.state() == WorkRequest.State.NULL) {
            return NntiResult.EINVAL;
        }
        NntiResult waited = await(request.completion, timeoutMs);
        if (waited != NntiResult.OK) {
            return waited;
        }
        request.detach();
        return request.status().result();
    }

    /**
     * Waits for the oldest operation of this buffer, or else for what a peer does in it.
     *
     * @return as {@link #await(WorkRequest, long)}; {@code EINVAL} if nothing can ever end here
     */
    public NntiResult await(NntiBuffer buffer, long timeoutMs, NntiStatus status) {
        if (buffer.operations.isEmpty() && !buffer.isTarget(options.hasTargetEvents())) {
            return NntiResult.EINVAL;
        }
        NntiResult waited = await(buffer.hasEnd, timeoutMs);
        if (waited != NntiResult.OK) {
            return waited;
        }
        buffer.take(status);
        return status.result();
    }

    /** Waits until a condition holds that progress or the condition itself may make true. */
    public NntiResult await(BooleanSupplier condition, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress();
            if (condition.getAsBoolean()) {
                return NntiResult.OK;
            }
            if (isInterrupted) {
                isInterrupted = false;
                return NntiResult.EINTR;
            }
            long now = transport.nanoTime();
            long leftNs = timeoutNs - (now - start);
            if (leftNs <= 0) {
                return NntiResult.ETIMEDOUT;
            }
            idle = work > 0 ? 0 : idle + 1;
            if (idle > SPINS) {
                transport.await(now + Math.min(leftNs, PAUSE_NS));
            }
        }
    }

    /** Nanoseconds of a timeout; {@link #NEVER} and what is too long are 73 years. */
    public static long timeoutNs(long timeoutMs) {
        boolean isEndless = timeoutMs < 0 || timeoutMs > Long.MAX_VALUE / 4_000_000;
        return isEndless ? Long.MAX_VALUE / 4 : timeoutMs * 1_000_000;
    }

    /** Waits until one that is not null has ended: its index; -1: none in time. Allocates. */
    public int awaitAny(List<WorkRequest> requests, long timeoutMs) {
        await(() -> first(requests, WorkRequest::isComplete) >= 0, timeoutMs);
        int index = first(requests, WorkRequest::isComplete);
        if (index >= 0) {
            requests.get(index).detach();
        }
        return index;
    }

    /** Index of the first that is not null and of which something holds; -1: there is none. */
    public static <T> int first(List<T> all, Predicate<T> condition) {
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i) != null && condition.test(all.get(i))) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Waits until all of these have ended; how is in the status of each.
     *
     * @return {@code OK}, the first other result of theirs, or {@code ETIMEDOUT}, {@code EINTR}
     */
    public NntiResult awaitAll(List<WorkRequest> requests, long timeoutMs) {
        long end = transport.nanoTime() + timeoutNs(timeoutMs);
        NntiResult worst = NntiResult.OK;
        for (WorkRequest request : requests) {
            long leftMs = Math.max(0, end - transport.nanoTime() + 999_999) / 1_000_000;
            NntiResult result = request == null ? NntiResult.OK : await(request, leftMs);
            if (request != null && !request.isComplete()) {
                return result;
            }
            worst = worst == NntiResult.OK ? result : worst;
        }
        return worst;
    }

    /** Ends a blocked await, or else the next, with {@code EINTR}. Any thread. */
    public void interrupt() {
        isInterrupted = true;
        transport.wakeup();
    }

    /** Ends a present sleep in an await, which goes on. Any thread. */
    public void wakeup() {
        transport.wakeup();
    }

    // ---- messages of a protocol above, without work requests

    /** Where a message is to be written in {@link #messages}; -1: no room now. */
    public int claim() {
        int at = isOpen ? postings.claim() : -1;
        return at < 0 ? at : at + Messages.DATA_OFFSET;
    }

    /** Memory of messages: {@link #messageLengthMax} bytes from {@link #claim} on. */
    public MutableDirectBuffer messages() {
        return postings.messages;
    }

    /**
     * Sends what was written at {@link #claim}, without a destination.
     *
     * @return {@code OK}: it will arrive if the peer lives; {@code EAGAIN}: not now, and what was
     *     written is forgotten; {@code EIO}: the peer is gone
     */
    public NntiResult commit(NntiPeer peer, int length) {
        Messages.begin(postings.messages, postings.claim(), Messages.DATA, 0);
        return postings.commit(peer, length + Messages.DATA_OFFSET);
    }

    /** Messages that nobody could take, and those that were malformed. */
    public long refusedCount() {
        return arrivals.refusedCount;
    }

    private void requireOpen() {
        if (!isOpen) {
            throw new NntiException(NntiResult.ENOTINIT, "the transport is closed");
        }
    }

    /** Disconnects every peer, gives all memory back and closes the transport. Idempotent. */
    @Override
    public void close() {
        if (!isOpen) {
            return;
        }
        arrivals.drop(null);
        connections.disconnectAll();
        long start = transport.nanoTime();
        while (!postings.isIdle() && transport.nanoTime() - start < CLOSE_NS) {
            if (progress() == 0) {
                transport.await(transport.nanoTime() + PAUSE_NS);
            }
        }
        buffers.unregisterAll();
        isOpen = false;
        variables.close();
        postings.close();
        transport.close();
        OPEN.values().remove(this);
    }
}
