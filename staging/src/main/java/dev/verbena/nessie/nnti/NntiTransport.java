package dev.verbena.nessie.nnti;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
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

    /** By scheme; guarded by itself. */
    private static final Map<String, NntiTransport> OPEN = new HashMap<>();

    private static final int POLL_LIMIT = 64;
    private static final int SPINS = 200;
    private static final long PAUSE_NS = 1_000_000;
    private static final long CLOSE_NS = 1_000_000_000;
    private static final long ELEMENTS_MAX = 1L << 30;

    private final Transport transport;
    private final NntiOptions options;
    private final Postings postings;
    private final Arrivals arrivals;
    private final Connections connections;
    private final NntiEvents events;
    private final RegisteredRegion variables;
    private final MutableDirectBuffer variableValues;
    private final ArrayDeque<WorkRequest> pool = new ArrayDeque<>();
    private final List<RegisteredRegion> closing = new ArrayList<>();
    private String key;
    private int nextBufferId = 1;
    private volatile boolean isInterrupted;
    private boolean isOpen = true;

    /**
     * Takes over a transport and listens.
     *
     * @param transport closed with this
     */
    public NntiTransport(Transport transport, NntiOptions options) {
        this.transport = transport;
        this.options = options;
        this.postings = new Postings(transport, options.sendSlotCount());
        this.arrivals = new Arrivals(transport);
        boolean hasAtomics = (transport.capabilities() & Capability.ATOMICS) != 0;
        int count = hasAtomics ? options.variableCount() : 0;
        this.variables =
                count == 0
                        ? null
                        : transport.allocate(
                                (long) count * Long.BYTES, RemoteDescriptor.REMOTE_ALL);
        this.variableValues = count == 0 ? null : variables.buffer(0, count * Long.BYTES);
        this.connections = new Connections(transport, postings, options.peersMax(), variables);
        this.events = new NntiEvents(connections, arrivals, postings);
        transport.listen();
    }

    /**
     * The transport of this scheme that the process has, opened if there is none. Closing it lets
     * the next call open another.
     */
    public static NntiTransport init(String scheme, TransportContext context, NntiOptions options) {
        synchronized (OPEN) {
            NntiTransport open = OPEN.get(scheme);
            if (open == null) {
                open = new NntiTransport(Transports.open(scheme, context), options);
                open.key = scheme;
                OPEN.put(scheme, open);
            }
            return open;
        }
    }

    /** Whether {@link #init} has opened a transport of this scheme that is not closed. */
    public static boolean isInitialized(String scheme) {
        synchronized (OPEN) {
            return OPEN.containsKey(scheme);
        }
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
        return connections.id();
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
        URI peer;
        try {
            peer = URI.create(url);
        } catch (IllegalArgumentException | NullPointerException e) {
            throw new NntiException(NntiResult.EINVAL, "connect to '" + url + "': no address");
        }
        String scheme = transport.uri().getScheme();
        if (!scheme.equals(peer.getScheme())) {
            throw new NntiException(
                    NntiResult.EINVAL, "connect to '" + url + "': this transport is " + scheme);
        }
        try {
            return connections.connect(peer, timeoutNs);
        } catch (IllegalArgumentException e) {
            throw new NntiException(NntiResult.EINVAL, e.getMessage());
        }
    }

    /**
     * Connects.
     *
     * @param timeoutMs milliseconds
     * @throws NntiException naming why not: {@code ETIMEDOUT}, {@code EPERM} (another protection
     *     domain, or rejected), {@code EIO}, {@code EINVAL}
     */
    public NntiPeer connect(String url, long timeoutMs) {
        long timeoutNs = timeoutNs(timeoutMs);
        NntiPeer peer = startConnect(url, timeoutNs);
        long start = transport.nanoTime();
        for (int idle = 0; peer.state() == NntiPeer.State.CONNECTING; ) {
            if (transport.nanoTime() - start > timeoutNs) {
                connections.disconnect(peer);
                throw new NntiException(NntiResult.ETIMEDOUT, "connect to " + url);
            }
            idle = progress() > 0 ? 0 : idle + 1;
            pause(idle, start, timeoutNs);
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
        check(flags, elementSize, elementCount);
        long length = (long) elementSize * elementCount;
        return made(
                flags,
                elementSize,
                elementCount,
                transport.allocate(length, BufferFlags.rights(flags)));
    }

    /** Memory of the caller, pinned until {@link #unregister}. */
    public NntiBuffer register(OffHeapMemory memory, int flags) {
        check(flags, 1, 1);
        return made(flags, 1, 1, transport.register(memory, BufferFlags.rights(flags)));
    }

    /** One buffer over several pieces of memory; offsets run over all of them. */
    public NntiBuffer registerSegments(List<? extends OffHeapMemory> segments, int flags) {
        check(flags, 1, 1);
        if (segments.isEmpty() || segments.size() > BufferHandle.SEGMENTS_MAX) {
            throw new NntiException(
                    NntiResult.EINVAL, segments.size() + " segments; possible are 1 to 64");
        }
        RegisteredRegion[] regions = new RegisteredRegion[segments.size()];
        for (int i = 0; i < regions.length; i++) {
            regions[i] = transport.register(segments.get(i), BufferFlags.rights(flags));
        }
        return made(flags, 1, 1, regions);
    }

    private void check(int flags, int elementSize, int elementCount) {
        requireOpen();
        boolean isQueue = (flags & BufferFlags.RECV_QUEUE) != 0;
        if (flags == 0 || (flags & ~BufferFlags.ALL) != 0 || isQueue && flags != (flags & -flags)) {
            throw new NntiException(NntiResult.EINVAL, "flags 0x" + Integer.toHexString(flags));
        }
        long length = (long) elementSize * elementCount;
        if (elementSize < 1 || elementCount < 1 || length > ELEMENTS_MAX) {
            throw new NntiException(
                    NntiResult.EINVAL, elementCount + " elements of " + elementSize + " bytes");
        }
        if (isQueue && arrivals.hasQueue()) {
            throw new NntiException(NntiResult.EEXIST, "there is a receive queue already");
        }
    }

    private NntiBuffer made(int flags, int size, int count, RegisteredRegion... regions) {
        NntiBuffer buffer = new NntiBuffer(nextBufferId++, flags, size, count, regions, id());
        arrivals.add(buffer);
        return buffer;
    }

    /**
     * Takes a buffer away from peers and gives its memory back. What is outstanding on it ends with
     * {@code ECANCELED}, or as it ended if it had begun. Idempotent.
     */
    public void unregister(NntiBuffer buffer) {
        if (!buffer.isOpen()) {
            return;
        }
        buffer.closed();
        arrivals.remove(buffer);
        WorkRequest receive;
        while ((receive = buffer.firstReceive()) != null) {
            cancel(receive);
        }
        WorkRequest request = buffer.oldest();
        while (request != null) {
            WorkRequest newer = request.newer();
            postings.cancel(request);
            request = newer;
        }
        for (RegisteredRegion region : buffer.regions()) {
            close(region);
        }
    }

    /** Revokes; what cannot be freed yet, because an own operation uses it, is freed later. */
    private void close(RegisteredRegion region) {
        try {
            region.close();
        } catch (IllegalStateException e) {
            closing.add(region);
        }
    }

    private void closePending() {
        for (int i = closing.size() - 1; i >= 0; i--) {
            RegisteredRegion region = closing.remove(i);
            close(region);
        }
    }

    // ---- operations

    /**
     * Sends the whole buffer.
     *
     * @param destination a buffer of the peer; absent or null: its receive queue
     * @param request null: one that {@link #await(NntiBuffer, long, NntiStatus)} returns
     */
    public NntiResult send(
            NntiPeer peer, NntiBuffer source, BufferHandle destination, WorkRequest request) {
        long length = source.length();
        boolean isAbsent = destination == null || destination.isAbsent();
        NntiResult wrong = check(peer, source, BufferFlags.SEND_SRC, 0, length);
        if (wrong != NntiResult.OK) {
            return wrong;
        }
        if (isAbsent) {
            return length > messageLengthMax()
                    ? NntiResult.EMSGSIZE
                    : start(NntiOperation.SEND, peer, source, 0, length, null, 0, false, request);
        }
        if ((destination.flags() & BufferFlags.RECV_DST) == 0) {
            return NntiResult.EPERM;
        }
        return destination.length() < length
                ? NntiResult.EMSGSIZE
                : start(NntiOperation.SEND, peer, source, 0, length, destination, 0, true, request);
    }

    /** Writes into a buffer of the peer; it learns of it if this transport has target events. */
    public NntiResult put(
            NntiPeer peer,
            NntiBuffer source,
            long offset,
            long length,
            BufferHandle target,
            long targetOffset,
            WorkRequest request) {
        return put(
                peer,
                source,
                offset,
                length,
                target,
                targetOffset,
                options.hasTargetEvents(),
                request);
    }

    /** Writes into a buffer of the peer, with an event at the target or without. */
    public NntiResult put(
            NntiPeer peer,
            NntiBuffer source,
            long offset,
            long length,
            BufferHandle target,
            long targetOffset,
            boolean hasTargetEvent,
            WorkRequest request) {
        NntiResult wrong = check(peer, source, BufferFlags.PUT_SRC, offset, length);
        wrong = check(wrong, target, BufferFlags.PUT_DST, targetOffset, length);
        return wrong != NntiResult.OK
                ? wrong
                : start(
                        NntiOperation.PUT,
                        peer,
                        source,
                        offset,
                        length,
                        target,
                        targetOffset,
                        hasTargetEvent,
                        request);
    }

    /** Reads a buffer of the peer; it learns of it if this transport has target events. */
    public NntiResult get(
            NntiPeer peer,
            BufferHandle source,
            long sourceOffset,
            long length,
            NntiBuffer destination,
            long offset,
            WorkRequest request) {
        return get(
                peer,
                source,
                sourceOffset,
                length,
                destination,
                offset,
                options.hasTargetEvents(),
                request);
    }

    /** Reads a buffer of the peer, with an event at its end or without. */
    public NntiResult get(
            NntiPeer peer,
            BufferHandle source,
            long sourceOffset,
            long length,
            NntiBuffer destination,
            long offset,
            boolean hasTargetEvent,
            WorkRequest request) {
        NntiResult wrong = check(peer, destination, BufferFlags.GET_DST, offset, length);
        wrong = check(wrong, source, BufferFlags.GET_SRC, sourceOffset, length);
        return wrong != NntiResult.OK
                ? wrong
                : start(
                        NntiOperation.GET,
                        peer,
                        destination,
                        offset,
                        length,
                        source,
                        sourceOffset,
                        hasTargetEvent,
                        request);
    }

    private NntiResult check(NntiPeer peer, NntiBuffer local, int flag, long offset, long length) {
        if (!isOpen) {
            return NntiResult.ENOTINIT;
        }
        if (peer.state() != NntiPeer.State.READY) {
            return NntiResult.EIO;
        }
        boolean isInside =
                offset >= 0
                        && length >= 0
                        && offset <= local.length()
                        && length <= local.length() - offset;
        if (!local.isOpen() || !isInside) {
            return NntiResult.EINVAL;
        }
        return (local.flags() & flag) == 0 ? NntiResult.EPERM : NntiResult.OK;
    }

    private static NntiResult check(
            NntiResult before, BufferHandle remote, int flag, long offset, long length) {
        if (before != NntiResult.OK) {
            return before;
        }
        boolean isInside =
                offset >= 0 && offset <= remote.length() && length <= remote.length() - offset;
        if (remote.isAbsent() || !isInside) {
            return NntiResult.EINVAL;
        }
        return (remote.flags() & flag) == 0 ? NntiResult.EPERM : NntiResult.OK;
    }

    private NntiResult start(
            NntiOperation operation,
            NntiPeer peer,
            NntiBuffer local,
            long offset,
            long length,
            BufferHandle remote,
            long remoteOffset,
            boolean hasTargetEvent,
            WorkRequest given) {
        WorkRequest request = given == null ? pooled() : given;
        detach(request);
        request.begin(operation, local, offset, length, peer, remote, remoteOffset, hasTargetEvent);
        postings.start(request);
        return NntiResult.OK;
    }

    private WorkRequest pooled() {
        WorkRequest request = pool.poll();
        return request == null ? new WorkRequest().pooled() : request;
    }

    private static void detach(WorkRequest request) {
        if (request.isComplete() && request.buffer() != null) {
            request.buffer().taken(request);
        }
    }

    // ---- atomic operations on variables, which are addressed by their index

    /** Adds to a variable of the peer; the completed status has what was there before as length. */
    public NntiResult fetchAdd(NntiPeer peer, int index, long delta, WorkRequest request) {
        return atomic(NntiOperation.FETCH_ADD, peer, index, delta, 0, request);
    }

    /** Stores {@code update} if {@code expected} is there; the status has what was there before. */
    public NntiResult compareSwap(
            NntiPeer peer, int index, long expected, long update, WorkRequest request) {
        return atomic(NntiOperation.COMPARE_SWAP, peer, index, expected, update, request);
    }

    private NntiResult atomic(
            NntiOperation kind, NntiPeer peer, int index, long a, long b, WorkRequest request) {
        if (peer.state() != NntiPeer.State.READY) {
            return NntiResult.EIO;
        }
        if (index < 0 || index >= peer.variableCount()) {
            return NntiResult.EINVAL;
        }
        detach(request);
        request.begin(kind, null, 0, Long.BYTES, peer, null, (long) index * Long.BYTES, true);
        request.operands(a, b);
        postings.startOnly(request);
        return NntiResult.OK;
    }

    /**
     * Reads an own variable.
     *
     * @throws IndexOutOfBoundsException for an index that this transport does not have
     */
    public long variable(int index) {
        if (variables == null) {
            throw new IndexOutOfBoundsException("variable " + index + ": there are none");
        }
        return variableValues.getLong(index * Long.BYTES);
    }

    /** Is called with the index of a variable after each atomic operation of a peer on it. */
    public void onVariableChanged(IntConsumer callback) {
        arrivals.variables(callback::accept);
    }

    // ---- receiving

    /** Takes sends without a destination from now on, if there is no receive queue. */
    public void onMessage(MessageHandler handler) {
        arrivals.handler(handler);
    }

    /** A work request that the next arrival in this buffer completes. */
    public NntiResult receive(NntiBuffer buffer, WorkRequest request) {
        NntiResult wrong = checkTarget(buffer);
        if (wrong != NntiResult.OK) {
            return wrong;
        }
        detach(request);
        request.begin(NntiOperation.RECEIVE, buffer, 0, 0, null, null, 0, false);
        if (buffer.take(request.status())) {
            request.complete(request.status());
        } else {
            buffer.addReceive(request);
        }
        return NntiResult.OK;
    }

    private NntiResult checkTarget(NntiBuffer buffer) {
        int receiving = BufferFlags.RECV_DST | BufferFlags.RECV_QUEUE;
        boolean isTarget =
                (buffer.flags() & receiving) != 0
                        || options.hasTargetEvents()
                                && (buffer.flags() & (BufferFlags.PUT_DST | BufferFlags.GET_SRC))
                                        != 0;
        return buffer.isOpen() && isTarget ? NntiResult.OK : NntiResult.EINVAL;
    }

    /** Gives a slot of a receive queue back, once what arrived in it was read. */
    public void release(NntiStatus received) {
        NntiBuffer buffer = received.buffer();
        if (buffer != null && (buffer.flags() & BufferFlags.RECV_QUEUE) != 0) {
            buffer.freeSlot(received.offset());
        }
    }

    /**
     * Gives an operation up, if it has not begun: it is then complete with {@code ECANCELED}.
     *
     * @return {@code OK} if it was given up, {@code EAGAIN}: it has begun, or has ended
     */
    public NntiResult cancel(WorkRequest request) {
        if (request.state() != WorkRequest.State.PENDING) {
            return NntiResult.EAGAIN;
        }
        if (request.operation() == NntiOperation.RECEIVE) {
            request.buffer().removeReceive(request);
            request.fail(NntiResult.ECANCELED);
            request.complete(0, 0);
            return NntiResult.OK;
        }
        return postings.cancel(request) ? NntiResult.OK : NntiResult.EAGAIN;
    }

    // ---- progress and waiting

    /** Takes what has come and posts what waits, for all buffers and peers; work done. */
    public int progress() {
        if (!isOpen) {
            return 0;
        }
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        work += connections.doWork(arrivals.hasQueue()) + postings.doWork() + arrivals.doWork();
        if (!closing.isEmpty()) {
            closePending();
        }
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
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress();
            if (request.isComplete()) {
                detach(request);
                return request.status().result();
            }
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
    }

    /**
     * Waits for the oldest operation of this buffer, or else for what a peer does in it.
     *
     * @return as {@link #await(WorkRequest, long)}; {@code EINVAL} if nothing can ever end here
     */
    public NntiResult await(NntiBuffer buffer, long timeoutMs, NntiStatus status) {
        if (buffer.oldest() == null && checkTarget(buffer) != NntiResult.OK) {
            return NntiResult.EINVAL;
        }
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress();
            if (take(buffer, status)) {
                return status.result();
            }
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
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
            idle = work > 0 ? 0 : idle + 1;
            NntiResult over = pause(idle, start, timeoutNs);
            if (over != NntiResult.OK) {
                return over;
            }
        }
    }

    private boolean take(NntiBuffer buffer, NntiStatus status) {
        WorkRequest oldest = buffer.oldest();
        if (oldest == null) {
            return buffer.take(status);
        }
        if (!oldest.isComplete()) {
            return false;
        }
        status.set(oldest.status());
        buffer.taken(oldest);
        if (oldest.isPooled()) {
            oldest.forget();
            pool.add(oldest);
        }
        return true;
    }

    /**
     * Waits until one of these has ended.
     *
     * @param requests of this transport; null entries are skipped
     * @return its index; -1: none within the time, or interrupted
     */
    public int awaitAny(List<WorkRequest> requests, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        for (int idle = 0; ; ) {
            int work = progress();
            for (int i = 0; i < requests.size(); i++) {
                if (requests.get(i) != null && requests.get(i).isComplete()) {
                    detach(requests.get(i));
                    return i;
                }
            }
            idle = work > 0 ? 0 : idle + 1;
            if (pause(idle, start, timeoutNs) != NntiResult.OK) {
                return -1;
            }
        }
    }

    /**
     * Waits until all of these have ended; how is in the status of each.
     *
     * @return {@code OK}, the first other result in their order, or {@code ETIMEDOUT}, {@code
     *     EINTR}
     */
    public NntiResult awaitAll(List<WorkRequest> requests, long timeoutMs) {
        long start = transport.nanoTime();
        long timeoutNs = timeoutNs(timeoutMs);
        NntiResult worst = NntiResult.OK;
        for (int i = 0; i < requests.size(); i++) {
            WorkRequest request = requests.get(i);
            if (request == null) {
                continue;
            }
            long leftNs = timeoutNs - (transport.nanoTime() - start);
            NntiResult result =
                    await(request, timeoutMs < 0 ? NEVER : Math.max(0, leftNs) / 1_000_000);
            if (!request.isComplete()) {
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

    private NntiResult pause(int idle, long start, long timeoutNs) {
        if (isInterrupted) {
            isInterrupted = false;
            return NntiResult.EINTR;
        }
        long now = transport.nanoTime();
        long leftNs = timeoutNs - (now - start);
        if (leftNs <= 0) {
            return NntiResult.ETIMEDOUT;
        }
        if (idle > SPINS) {
            transport.await(now + Math.min(leftNs, PAUSE_NS));
        }
        return NntiResult.OK;
    }

    private static long timeoutNs(long timeoutMs) {
        return timeoutMs < 0 || timeoutMs > Long.MAX_VALUE / 4_000_000
                ? Long.MAX_VALUE / 4
                : timeoutMs * 1_000_000;
    }

    // ---- messages of a protocol above, without work requests

    /** Where a message is to be written in {@link #messages}; -1: no room now. */
    public int claim() {
        int at = isOpen ? postings.claim() : -1;
        return at < 0 ? at : at + Messages.DATA_OFFSET;
    }

    /**
     * Memory of outgoing messages: up to {@link #messageLengthMax} bytes from {@link #claim} on.
     */
    public MutableDirectBuffer messages() {
        return postings.messages();
    }

    /**
     * Sends what was written at {@link #claim}, without a destination.
     *
     * @return {@code OK}: it will arrive if the peer lives; {@code EAGAIN}: not now, and what was
     *     written is forgotten; {@code EIO}: the peer is gone
     */
    public NntiResult commit(NntiPeer peer, int length) {
        Messages.begin(postings.messages(), postings.claim(), Messages.DATA);
        return postings.commit(peer, length + Messages.DATA_OFFSET);
    }

    /** Messages that nobody could take, and those that were malformed. */
    public long refusedCount() {
        return arrivals.droppedCount() + arrivals.malformedCount();
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
        arrivals.releaseAll();
        connections.disconnectAll();
        long start = transport.nanoTime();
        while (!postings.isIdle() && transport.nanoTime() - start < CLOSE_NS) {
            if (progress() == 0) {
                transport.await(transport.nanoTime() + PAUSE_NS);
            }
        }
        for (NntiBuffer buffer : new ArrayList<>(arrivals.all())) {
            unregister(buffer);
        }
        closePending();
        isOpen = false;
        if (variables != null) {
            variables.close();
        }
        postings.close();
        transport.close();
        if (key != null) {
            synchronized (OPEN) {
                OPEN.remove(key);
            }
        }
    }
}
