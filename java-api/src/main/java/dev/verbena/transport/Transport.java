package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.nio.file.Path;
import java.util.Objects;
import org.agrona.DirectBuffer;

/**
 * One open NIC, real or software: registered memory, connections, one-sided operations and
 * messages.
 *
 * <p>Threading: a transport is owned by the thread that uses it first. Only {@link #wakeup()} and
 * {@link #close()} may be called from other threads. Handlers run inside {@link #poll} on the
 * owner's thread; they may post operations and call {@link #retain}, but may neither poll nor
 * close.
 *
 * <p>Operations never block and never throw for what a peer did: they answer {@link #ACCEPTED} or a
 * negative code. Every accepted operation yields exactly one {@link TransportHandler#onCompletion};
 * acceptance reserves the slot for it, so the event queue cannot overrun. A wrong argument (region
 * closed, range past the end of the local region, negative length) is an {@link
 * IllegalArgumentException} or {@link IllegalStateException} that names the value and its range,
 * thrown before anything is posted. A remote range that does not fit is a completion with {@link
 * Status#BOUNDS}.
 *
 * <p>Order: sends of one connection arrive in the order posted. Nothing else is ordered, unless
 * {@link #FENCE} is given (the operation starts after every earlier operation of the connection has
 * been placed) or the earlier completion was seen. A send is not ordered after a put.
 *
 * <p>Lengths are bytes, any length from 0 and any alignment works (atomics: 8 bytes, aligned). A
 * provider segments above its own limit and still reports one completion, with the worst status.
 *
 * <p>Source: architecture document, section 2. Ancestor: Nessie's NNTI (Lofstead, Oldfield et al.).
 */
public interface Transport extends AutoCloseable {
    /** The operation was accepted; its completion will be delivered by {@link #poll}. */
    int ACCEPTED = 0;

    /** Not accepted now: no credit, no receive slot or no completion slot. Poll, then try again. */
    int BACK_PRESSURED = -1;

    /** Not accepted: the connection handle is unknown, not yet connected, lost or disconnected. */
    int NOT_CONNECTED = -2;

    /** Not accepted: the transport is closed. */
    int CLOSED = -3;

    /** Not accepted: a message longer than {@link TransportLimits#messageLengthMax()}. */
    int TOO_LONG = -4;

    /** Not accepted: the provider lacks this capability, see {@link Capability}. */
    int NOT_SUPPORTED = -5;

    /** Flag: start after every earlier operation of the same connection has been placed. */
    int FENCE = 1;

    /**
     * Flag of a put, a hint: nobody reads the bytes soon, so they need not go through the caches of
     * processors.
     */
    int STREAMED = 2;

    /**
     * Own address, with the incarnation of this transport: {@code shm://job/name?incarnation=...}.
     */
    URI uri();

    /** Set of {@link Capability} bits. */
    long capabilities();

    /** Sizes and counts fixed when the transport was opened. */
    TransportLimits limits();

    /**
     * One paragraph for people: which provider this is, why it was chosen, how memory is reached.
     * Not for parsing.
     */
    String explain();

    /**
     * Allocates zeroed memory that peers reach by plain stores where the provider can, and
     * registers it.
     *
     * @param length bytes, from 1
     * @param rights {@link RemoteDescriptor#REMOTE_READ} and friends, or 0 for local use only
     * @return the region; the caller owns and closes it, before the transport
     * @throws TransportException naming the limit that was hit (shared memory, locked memory,
     *     table)
     */
    RegisteredRegion allocate(long length, int rights);

    /**
     * Registers memory that the caller has. The memory is pinned ({@link OffHeapMemory#acquire})
     * until the region closes, and over a network until no peer may write to it any more: its own
     * close is refused until then.
     *
     * <p>Pages that this process itself may only read can be registered for local use and with
     * {@link RemoteDescriptor#REMOTE_READ}: to send and put from, for peers to get. Never get into
     * them; a provider need not find that out in time.
     *
     * @throws TransportException if this kernel forbids reaching such memory; the remedy is in the
     *     message
     */
    RegisteredRegion register(OffHeapMemory memory, int rights);

    /**
     * Maps the first {@code length} bytes of a file of this host. Parts of it that are then {@link
     * #register}ed are reached as memory of {@link #allocate} is, and so faster than another
     * mapping. The caller has reserved the file's space, or bears that there is none when a page is
     * first touched; it closes the memory before the transport, on any thread.
     *
     * @return null: this provider cannot, or not with this file; {@code OffHeapMemories.mapFile}
     *     can
     */
    default OffHeapMemory mapFile(Path file, long length) {
        return null;
    }

    /**
     * From now on incoming connections are offered as {@link TransportHandler#onConnectRequest}.
     * Idempotent.
     */
    void listen();

    /**
     * Starts to connect. Ends with {@code onConnected} or {@code onConnectFailed} carrying the
     * returned handle. Where nobody listens it fails at once with {@link Status#NOT_LISTENING};
     * {@link BlockingCalls#connect} tries again until a time limit.
     *
     * @param peer what the peer's {@link #uri()} says; another incarnation than the one found is
     *     refused. Without {@code incarnation=} any is meant
     * @param privateData up to {@link TransportLimits#privateDataLengthMax()} bytes shown to the
     *     peer; copied
     * @param timeoutNs give up after this long: at once from 0 down, never within a life at {@link
     *     Long#MAX_VALUE}
     * @return a connection handle (positive), or {@link #CLOSED} or {@link #BACK_PRESSURED}
     */
    long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs);

    /**
     * Accepts an offered connection; ends with {@code onConnected}. The context belongs to the
     * connection from now on.
     */
    int accept(long connection, long context);

    /**
     * Refuses an offered connection; the peer gets {@code onConnectFailed} with {@link
     * Status#REFUSED}.
     */
    int reject(long connection);

    /**
     * Orderly end: operations accepted before complete, then the peer gets {@code onDisconnected}.
     * A connect under way is given up: it ends with {@code onConnectFailed} and {@link
     * Status#CANCELLED}. An offered connection is rejected.
     */
    int disconnect(long connection);

    /**
     * Sends a message that arrives in a receive slot of the peer. Completion {@code OK}: the source
     * may be changed, and delivery is guaranteed while the peer lives.
     */
    int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags);

    /**
     * Writes into the peer's memory. Completion {@code OK}: placed at the target, visible to its
     * CPU.
     */
    int put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags);

    /**
     * As {@link #put}; then one {@link TransportHandler#onNotify} at the target, after all bytes
     * are visible there.
     */
    int putNotify(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags);

    /** Reads the peer's memory. Completion {@code OK}: the bytes are here. */
    int get(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags);

    /**
     * As {@link #put}, with a checksum of the bytes that are put: {@code sum} tells it from
     * acceptance on. The caller may use {@code sum} again as soon as it has asked.
     */
    default int putSummed(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            TransferSum sum,
            long context,
            int flags) {
        return transferSummed(
                Operation.PUT,
                connection,
                source,
                offset,
                target,
                targetOffset,
                length,
                sum,
                context,
                flags);
    }

    /**
     * As {@link #get}, with a checksum of the bytes that are here afterwards: {@code sum} tells it
     * after the completion, and must not be used for another operation before.
     */
    default int getSummed(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            TransferSum sum,
            long context,
            int flags) {
        return transferSummed(
                Operation.GET,
                connection,
                destination,
                offset,
                source,
                sourceOffset,
                length,
                sum,
                context,
                flags);
    }

    /**
     * For providers: {@link #putSummed} and {@link #getSummed} in one. The default puts or gets,
     * and the sum reads the bytes once more.
     *
     * @param operation {@link Operation#PUT} or {@link Operation#GET}
     */
    default int transferSummed(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            TransferSum sum,
            long context,
            int flags) {
        Objects.requireNonNull(sum, "sum");
        int answer;
        if (operation == Operation.PUT) {
            answer = put(connection, local, offset, remote, remoteOffset, length, context, flags);
        } else {
            answer = get(connection, local, offset, remote, remoteOffset, length, context, flags);
        }
        if (answer == ACCEPTED) {
            sum.begin(local, offset, length);
        }
        return answer;
    }

    /**
     * Vectored put: segments of {@code vector} one after the other, one completion with the worst
     * status.
     */
    int put(
            long connection,
            TransferVector vector,
            RemoteDescriptor target,
            long context,
            int flags);

    /**
     * Vectored get: segments of {@code vector} one after the other, one completion with the worst
     * status.
     */
    int get(
            long connection,
            TransferVector vector,
            RemoteDescriptor source,
            long context,
            int flags);

    /**
     * Adds to 8 aligned bytes at the target; the completion's value is what was there before.
     * Native byte order.
     */
    int fetchAdd(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags);

    /**
     * Stores {@code update} if {@code expected} is found; the completion's value is what was there
     * before.
     */
    int compareSwap(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags);

    /**
     * Keeps the message that is being handled until {@link #release}; it goes on holding its
     * receive slot.
     *
     * @throws IllegalStateException if the token is not the one that a handler has just now, or is
     *     retained already
     */
    void retain(long messageToken);

    /** Gives a retained message's slot back. */
    void release(long messageToken);

    /**
     * Delivers up to {@code limit} events. Never waits, allocates or locks. An exception of a
     * handler leaves the transport consistent and is thrown on.
     *
     * @return number of events delivered, or {@link #CLOSED}
     * @throws IllegalArgumentException if the handler overrides nothing: other parameter types than
     *     {@link TransportHandler}'s, mostly. {@link TransportHandler#IGNORE} is taken
     * @throws TransportException naming a file of this transport's own memory that another process
     *     cut: the transport is of no use any more and is to be closed
     */
    int poll(TransportHandler handler, int limit);

    /**
     * Sleeps until there may be something to poll, {@code deadlineNs} (of the transport's clock) or
     * {@link #wakeup()}. Deadlines are compared by their difference from {@link #nanoTime()}, so
     * that {@code nanoTime() + Long.MAX_VALUE} is as legal as a deadline that has passed.
     *
     * @return true if there may be something to poll
     */
    boolean await(long deadlineNs);

    /** Ends a present or the next {@link #await}. Any thread. */
    void wakeup();

    /**
     * The clock of deadlines and timeouts: {@link System#nanoTime} for real providers, virtual time
     * for simulated ones.
     */
    long nanoTime();

    /**
     * Any thread, idempotent. Outstanding operations are flushed, peers get {@code PEER_LOST} or
     * {@code onDisconnected}. Where an operation may be outstanding because a peer does not answer
     * ({@code verbs://}, {@code sim://}), regions whose close was refused for it are closed, too.
     *
     * @throws IllegalStateException naming regions that are still open; nothing is freed then
     */
    @Override
    void close();
}
