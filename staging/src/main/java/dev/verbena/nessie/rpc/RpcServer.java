package dev.verbena.nessie.rpc;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.NanoClock;

/**
 * Serves remote procedures: takes requests, fetches long arguments, has handlers run in the order
 * of a policy, answers, and keeps long results until they were fetched. Never blocks itself. Owned
 * by the transport's thread.
 */
public final class RpcServer {
    private static final int DISPATCH_LIMIT = 16;
    private static final long PROGRESS_MIN_NS = 100_000_000;

    final NntiTransport transport;
    private final RpcServerOptions options;
    private final ErrorHandler errorHandler;
    private final Int2ObjectHashMap<RpcOperation> operations = new Int2ObjectHashMap<>();
    private final RegisteredBuffers longArgs;
    private final ServerSlots slots;
    private final ArrayDeque<RpcCall> free = new ArrayDeque<>();
    private final ArrayList<RpcCall> used = new ArrayList<>();
    private final PriorityQueue<RpcCall> queue;
    final Replies replies;

    /** Null: handlers run in the server's loop. */
    private RequestWorkers workers;

    private Consumer<Boolean> progress;
    private long arrivalCount;
    private long handledCount;
    private long acceptedCount;
    private long servedCount;
    private long malformedCount;
    private long fetchedArgsCount;
    private long reportedCount;
    private long nextProgressNs;
    private boolean hasUntimed;
    private boolean isEnding;
    private boolean isKilled;
    private int exitCode;

    RpcServer(NntiTransport transport, RpcServerOptions options, ErrorHandler errorHandler) {
        this.transport = transport;
        this.options = options;
        this.errorHandler = errorHandler;
        this.queue = new PriorityQueue<>(Math.max(1, options.pendingMax()), options.order());
        this.longArgs = new RegisteredBuffers(transport, BufferFlags.GET_DST);
        this.replies = new Replies(this, transport, options.fetchTimeoutNs());
        for (int i = 0; i < options.pendingMax(); i++) {
            free.add(new RpcCall(this));
        }
        this.slots = new ServerSlots(transport, options);
        nextProgressNs = nanoTime();
        registerBuiltIn();
    }

    private void registerBuiltIn() {
        register(Opcode.NULL, null, call -> call.reply(0, null));
        XdrInts descriptor = new XdrInts(true, ServiceSearch.WORDS);
        int longest = Replies.lengthMax(transport);
        descriptor.set(0, ServiceSearch.VERSION);
        descriptor.set(1, longest);
        descriptor.set(2, longest);
        descriptor.set(3, options.argsLengthMax());
        register(Opcode.GET_SERVICE, null, call -> call.reply(0, descriptor));
        register(Opcode.KILL_SERVICE, () -> new XdrInts(true, 1), this::kill);
    }

    private void kill(RpcCall call) {
        exitCode = ((XdrInts) call.args()).get(0);
        isEnding = true;
        isKilled = exitCode != 0;
        call.reply(0, null);
    }

    /**
     * Serves an operation.
     *
     * @param args makes objects for its arguments; null: it has none
     * @return {@code EEXIST}: the opcode is served already, and so it stays
     */
    public RpcResult register(int opcode, Supplier<? extends XdrValue> args, RpcHandler handler) {
        return register(opcode, new RpcOperation(args, handler, false));
    }

    /** Serves an operation that needs one of the server's buffers for bulk data. */
    public RpcResult registerWithSlot(
            int opcode, Supplier<? extends XdrValue> args, RpcHandler handler) {
        if (options.slotCount() == 0) {
            return RpcResult.EINVAL;
        }
        return register(opcode, new RpcOperation(args, handler, true));
    }

    private RpcResult register(int opcode, RpcOperation operation) {
        if (operations.containsKey(opcode)) {
            return RpcResult.EEXIST;
        }
        operations.put(opcode, operation);
        return RpcResult.OK;
    }

    /**
     * Is called about every {@link RpcServerOptions#progressNs}, with whether there was no work.
     */
    public void onProgress(Consumer<Boolean> callback) {
        progress = callback;
    }

    // ---- arrivals

    /** A request; false: not now. */
    boolean onRequest(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        RpcCall call = free.poll();
        if (call == null) {
            return false;
        }
        used.add(call);
        call.arrived(peer, arrivalCount++);
        hasUntimed = true;
        if (!call.request.decode(buffer, at, length, true)) {
            malformedCount++;
            call.refuse(RpcResult.EDECODE);
        } else if (isRefusing()) {
            call.refuse(RpcResult.ECANCELED);
        } else {
            accept(call, buffer);
        }
        return true;
    }

    private boolean isRefusing() {
        return isEnding || options.requestsMax() >= 0 && acceptedCount >= options.requestsMax();
    }

    private void accept(RpcCall call, DirectBuffer buffer) {
        RpcOperation operation = operations.get(call.opcode());
        RpcMessage request = call.request;
        if (operation == null) {
            call.refuse(RpcResult.ENOTSUP);
            return;
        }
        call.operation(operation);
        acceptedCount += call.isCounted ? 1 : 0;
        if (!request.isFetch()) {
            decode(call, buffer, request.bodyAt, request.bodyLength);
        } else if (request.bodyLength > options.argsLengthMax() || request.isResponseless()) {
            call.refuse(RpcResult.EMSGSIZE);
        } else {
            fetchArgs(call);
        }
    }

    private void fetchArgs(RpcCall call) {
        RpcResult started = call.longArgs.start(transport, longArgs, call.peer(), call.request);
        if (started == RpcResult.OK) {
            fetchedArgsCount++;
            call.phase(RpcCall.Phase.FETCHING_ARGS);
        } else {
            call.refuse(started);
        }
    }

    private void decode(RpcCall call, DirectBuffer buffer, int at, int length) {
        try {
            if (call.args() != null) {
                call.args().decode(buffer, at, at + length);
            }
        } catch (XdrException | IndexOutOfBoundsException e) {
            call.refuse(RpcResult.EDECODE);
            return;
        }
        call.phase(RpcCall.Phase.QUEUED);
        queue.add(call);
    }

    /** The client has fetched a long result. */
    void onAck(NntiPeer peer, DirectBuffer buffer, int at) {
        RpcCall call = find(RpcCall.Phase.AWAITING_ACK, peer, RpcMessage.idOf(buffer, at));
        if (call != null) {
            replies.end(call, true);
        }
    }

    /** The client has put what it was asked for. */
    void onPushed(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        RpcCall call = find(RpcCall.Phase.RUNNING, peer, RpcMessage.idOf(buffer, at));
        RpcResult how = RpcMessage.pushed(buffer, at, length);
        if (how == null) {
            malformedCount++;
        } else if (call != null && call.mayStillBePushed()) {
            call.pushed(how);
        }
    }

    private RpcCall find(RpcCall.Phase phase, NntiPeer peer, long id) {
        for (int i = 0; i < used.size(); i++) {
            RpcCall call = used.get(i);
            if (call.phase == phase && call.peer() == peer && call.id() == id) {
                return call;
            }
        }
        return null;
    }

    void onPeerClosed(NntiPeer peer) {
        for (int i = used.size() - 1; i >= 0; i--) {
            if (used.get(i).peer() == peer) {
                used.get(i).orphaned();
            }
        }
    }

    // ---- the loop

    /** Does what can be done now; work done. Part of {@link RpcEndpoint#doWork}. */
    int doWork() {
        int work = (workers == null ? 0 : workers.takeCommands()) + step();
        if (workers != null || queue.size() > 1) {
            beginAges();
        }
        work += dispatchQueue();
        beginAges();
        reportProgress();
        return work;
    }

    /**
     * Not of requests that are answered at once: to read the clock costs a tenth of such a call.
     */
    private void beginAges() {
        if (hasUntimed) {
            hasUntimed = false;
            long now = used.isEmpty() ? 0 : nanoTime();
            for (int i = 0; i < used.size(); i++) {
                used.get(i).timed(now);
            }
        }
    }

    private int step() {
        int work = 0;
        for (int i = used.size() - 1; i >= 0; i--) {
            work += i < used.size() ? step(used.get(i)) : 0;
        }
        return work;
    }

    private int step(RpcCall call) {
        return switch (call.phase) {
            case FETCHING_ARGS -> call.longArgs.isComplete() ? argsFetched(call) : 0;
            case RUNNING -> running(call);
            case REPLYING -> {
                replies.send(call);
                yield call.phase == RpcCall.Phase.REPLYING ? 0 : 1;
            }
            case AWAITING_ACK -> replies.giveUp(call);
            case ENDED -> call.isHandling() ? 0 : free(call);
            default -> 0;
        };
    }

    private int running(RpcCall call) {
        if (call.isMoving()) {
            boolean isMoved = call.isMoved();
            if (isMoved) {
                call.transferred();
            }
            return isMoved ? 1 : 0;
        }
        if (call.isOrphan && !call.isHandling()) {
            // Its handler may keep the object and answer it later: it is never used again.
            slots.give(call);
            call.phase(RpcCall.Phase.ABANDONED);
            used.remove(call);
            free.add(new RpcCall(this));
            return 1;
        }
        return 0;
    }

    private int argsFetched(RpcCall call) {
        Fetch fetched = call.longArgs;
        if (fetched.result() == RpcResult.OK) {
            decode(call, fetched.bytes(), 0, call.request.bodyLength);
        } else {
            call.refuse(fetched.result());
        }
        fetched.free(longArgs);
        return 1;
    }

    private int dispatchQueue() {
        int work = 0;
        RpcCall next;
        while (work < DISPATCH_LIMIT && !isKilled && (next = queue.peek()) != null) {
            boolean needsSlot = next.operation.needsSlot();
            if (next.isOrphan) {
                queue.remove();
                finish(next);
            } else if (needsSlot && slots.isEmpty() || workers != null && !workers.hasRoom()) {
                break;
            } else {
                queue.remove();
                if (needsSlot) {
                    slots.take(next);
                }
                next.phase(RpcCall.Phase.RUNNING);
                run(next);
            }
            work++;
        }
        return work;
    }

    private void run(RpcCall call) {
        if (workers != null && call.opcode() != Opcode.KILL_SERVICE) {
            call.handling(workers);
            workers.offer(call);
        } else {
            call.handling(null);
            call.handle(errorHandler);
        }
    }

    /** When {@link #doWork} has something to do although nothing comes; {@code Long.MAX_VALUE}. */
    long nextDeadlineNs() {
        long earliest = progress == null ? Long.MAX_VALUE : nextProgressNs;
        for (int i = 0; i < used.size(); i++) {
            RpcCall call = used.get(i);
            if (call.phase == RpcCall.Phase.AWAITING_ACK) {
                earliest = RpcEndpoint.earlier(earliest, call.deadlineNs);
            }
        }
        return earliest;
    }

    private void reportProgress() {
        if (progress == null) {
            return; // nor is the clock asked, which costs as much as an empty cycle
        }
        long now = nanoTime();
        if (now - nextProgressNs >= 0) {
            nextProgressNs = now + Math.max(PROGRESS_MIN_NS, options.progressNs());
            boolean isIdle = handledCount == reportedCount && used.isEmpty();
            reportedCount = handledCount;
            progress.accept(isIdle);
        }
    }

    // ---- what handlers ask for

    /** Of another version. */
    void onUnknownVersion(NntiPeer peer, DirectBuffer buffer, int at) {
        malformedCount++;
        replies.refuseVersion(peer, buffer, at);
    }

    void finish(RpcCall call) {
        slots.give(call);
        call.noListener();
        if (call.phase == RpcCall.Phase.ABANDONED) {
            return;
        }
        call.phase(RpcCall.Phase.ENDED);
        if (!call.isHandling()) {
            free(call);
        }
    }

    private int free(RpcCall call) {
        call.phase(RpcCall.Phase.FREE);
        used.remove(call);
        free.add(call);
        handledCount++;
        servedCount += call.isCounted ? 1 : 0;
        return 1;
    }

    /**
     * Agents that run handlers, {@link RpcServerOptions#threads} of them; each is to be run by a
     * thread of its own. Once.
     *
     * @param wakeup ends the sleep of those threads; any thread
     */
    public List<ProtocolAgent> workers(NanoClock clock, Runnable wakeup) {
        if (options.threads() == 0) {
            return List.of();
        }
        workers = new RequestWorkers(transport, clock, options, errorHandler, wakeup);
        return Stream.generate(workers::worker).limit(options.threads()).toList();
    }

    long nanoTime() {
        return transport.transport().nanoTime();
    }

    // ---- what it has done

    /**
     * Whether it was killed, or has handled as many requests as it may; all of them are answered.
     */
    public boolean isDone() {
        boolean isOver =
                isEnding || options.requestsMax() >= 0 && servedCount >= options.requestsMax();
        return isKilled || isOver && used.isEmpty();
    }

    /** The signal that ended it; 0 in order. */
    public int exitCode() {
        return exitCode;
    }

    /** Requests that are handled and answered, those that were refused included. */
    public long handledCount() {
        return handledCount;
    }

    /** Requests whose header was malformed, or of another version. */
    public long malformedCount() {
        return malformedCount;
    }

    /** Arguments that were fetched, because they did not fit into a message. */
    public long fetchedArgsCount() {
        return fetchedArgsCount;
    }

    /** Buffers of long results that clients have not fetched yet. */
    public int longResultCount() {
        return replies.longResults.usedCount;
    }

    /** Most of the buffers for bulk data that were in use at a time. */
    public int slotsUsedMax() {
        return slots.usedMax;
    }

    /** Requests that are held now. */
    public int pendingCount() {
        return used.size();
    }

    void close() {
        if (workers != null) {
            workers.close(); // handlers that wait are told that nothing more happens
        }
        longArgs.close();
        replies.close();
    }
}
