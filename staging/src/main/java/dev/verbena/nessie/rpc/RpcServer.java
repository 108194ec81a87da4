package dev.verbena.nessie.rpc;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.TraceRequest;
import dev.verbena.nessie.xdr.XdrInts;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.agrona.CloseHelper;
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
    final RpcServerOptions options;

    /** Longest request or result in one message, bytes. */
    final int lengthMax;

    final ErrorHandler errorHandler;
    private final Int2ObjectHashMap<RpcOperation> operations = new Int2ObjectHashMap<>();
    private final RegisteredBuffers longArgs;
    final RegisteredBuffers longResults;
    private final Outgoing refusal = new Outgoing();
    private final ServerSlots slots;
    private RpcTrace trace = new RpcTrace(null, 0);
    private final ArrayDeque<RpcCall> free = new ArrayDeque<>();
    private final ArrayList<RpcCall> used = new ArrayList<>();
    private final PriorityQueue<RpcCall> queue;

    /** Null: handlers run in the server's loop. */
    private RequestWorkers workers;

    private Consumer<Boolean> progress;
    private long arrivalCount;
    private long handledCount;
    private long acceptedCount;
    private long servedCount;
    private long malformedCount;

    /** Arguments that were fetched, because they did not fit into a message. */
    long fetchedArgsCount;

    private long inlineDataCount;
    private long reportedCount;
    private long nextProgressNs;
    private boolean hasUntimed;
    private boolean isEnding;
    private int exitCode; // not 0: it ends at once

    RpcServer(NntiTransport transport, RpcServerOptions options, ErrorHandler errorHandler) {
        this.transport = transport;
        this.options = options;
        this.errorHandler = errorHandler;
        this.queue = new PriorityQueue<>(Math.max(1, options.pendingMax()), options.order());
        this.longArgs = new RegisteredBuffers(transport, BufferFlags.GET_DST);
        this.longResults = new RegisteredBuffers(transport, BufferFlags.GET_SRC);
        this.lengthMax = Math.min(RpcEndpoint.MESSAGE_LENGTH, transport.messageLengthMax());
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
        descriptor.set(0, ServiceSearch.VERSION);
        descriptor.set(1, lengthMax);
        descriptor.set(2, lengthMax);
        descriptor.set(3, options.argsLengthMax());
        register(Opcode.GET_SERVICE, null, call -> call.reply(0, descriptor));
        register(Opcode.KILL_SERVICE, () -> new XdrInts(true, 1), this::kill);
        register(Opcode.TRACE_RESET, TraceRequest::new, this::trace);
    }

    private void kill(RpcCall call) {
        int signal = ((XdrInts) call.args()).get(0);
        if (signal >= 0) { // a negative exit code says that a server has failed
            exitCode = signal;
            isEnding = true;
        }
        call.reply(signal < 0 ? RpcResult.EINVAL.code() : 0, null);
    }

    private void trace(RpcCall call) {
        call.reply(trace.reset((TraceRequest) call.args()).code(), null);
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
        return options.slotCount() == 0
                ? RpcResult.EINVAL
                : register(opcode, new RpcOperation(args, handler, true));
    }

    private RpcResult register(int opcode, RpcOperation operation) {
        return operations.putIfAbsent(opcode, operation) == null ? RpcResult.OK : RpcResult.EEXIST;
    }

    /**
     * Is called about every {@link RpcServerOptions#progressNs}, with whether there was no work.
     */
    public void onProgress(Consumer<Boolean> callback) {
        progress = callback;
    }

    /**
     * Lets clients trace requests, see {@link RpcClient#traceReset}, to files of so many bytes.
     *
     * @param files of traces and nothing else; closed with the server
     */
    public void allowTraces(DurableStore files, long lengthMax) {
        trace = new RpcTrace(files, lengthMax);
    }

    // ---- arrivals

    /** A request; false: not now. */
    boolean onRequest(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        RpcCall call = free.poll();
        if (call == null) {
            return false;
        }
        used.add(call);
        call.arrived(peer, arrivalCount++, trace.isOn());
        hasUntimed = true;
        if (!call.request.decode(buffer, at, length, true)) {
            malformedCount++;
            call.refuse(RpcResult.EDECODE);
        } else if (isOver(acceptedCount)) {
            call.refuse(RpcResult.ECANCELED);
        } else {
            accept(call, buffer);
        }
        return true;
    }

    private boolean isOver(long requests) {
        return isEnding || options.requestsMax() >= 0 && requests >= options.requestsMax();
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
        if (request.isDataInline()) {
            inlineDataCount++;
            call.keepInline(buffer);
        }
        if (!request.isFetch()) {
            decode(call, buffer, request.bodyAt, request.fields.bodyLength());
        } else if (request.fields.bodyLength() > options.argsLengthMax()
                || request.isResponseless()) {
            call.refuse(RpcResult.EMSGSIZE);
        } else {
            fetchArgs(call);
        }
    }

    private void fetchArgs(RpcCall call) {
        RpcResult started = call.longArgs.start(longArgs, call.peer(), call.request);
        if (started == RpcResult.OK) {
            fetchedArgsCount++;
            call.phase(Phase.FETCHING_ARGS);
        } else {
            call.refuse(started);
        }
    }

    private void decode(RpcCall call, DirectBuffer buffer, int at, int length) {
        RpcResult decoded = RpcMessage.decode(call.args(), buffer, at, length);
        if (decoded != RpcResult.OK) {
            call.refuse(decoded);
            return;
        }
        call.phase(Phase.QUEUED);
        queue.add(call);
    }

    /** The client has fetched a long result. */
    void onAck(NntiPeer peer, DirectBuffer buffer, int at) {
        RpcCall call = find(Phase.AWAITING_ACK, peer, RpcMessage.idOf(buffer, at));
        if (call != null) {
            call.answered(true);
        }
    }

    /** The client has put what it was asked for. */
    void onPushed(NntiPeer peer, DirectBuffer buffer, int at, int length) {
        RpcCall call = find(Phase.RUNNING, peer, RpcMessage.idOf(buffer, at));
        RpcResult how = RpcMessage.pushed(buffer, at, length);
        if (how == null) {
            malformedCount++;
        } else if (call != null && call.mayStillBePushed()) {
            call.pushed(how);
        }
    }

    private RpcCall find(Phase phase, NntiPeer peer, long id) {
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
        Phase before = call.phase;
        switch (before) {
            case FETCHING_ARGS -> fetchingArgs(call);
            case RUNNING -> running(call);
            case REPLYING, AWAITING_ACK -> {
                if (call.isOrphan || call.isLate()) {
                    call.answered(false);
                } else if (before == Phase.REPLYING) {
                    call.sendReply();
                }
            }
            case ENDED -> free(call);
            default -> {
                // It waits for its turn.
            }
        }
        return call.phase == before ? 0 : 1;
    }

    private void running(RpcCall call) {
        if (call.isMoving()) {
            if (call.isMoved()) {
                call.transferred();
            }
        } else if (call.isOrphan && !call.isHandling()) {
            // Its handler may keep the object and answer it later: it is never used again.
            slots.give(call);
            call.phase(Phase.ABANDONED);
            handled(call, new RpcCall(this));
        }
    }

    private void fetchingArgs(RpcCall call) {
        Fetch fetched = call.longArgs;
        if (!fetched.isComplete()) {
            return;
        }
        if (fetched.result() == RpcResult.OK) {
            decode(call, fetched.bytes(), 0, call.request.fields.bodyLength());
        } else {
            call.refuse(fetched.result());
        }
        fetched.free(longArgs);
    }

    private int dispatchQueue() {
        int work = 0;
        RpcCall next;
        while (work < DISPATCH_LIMIT && exitCode == 0 && (next = queue.peek()) != null) {
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
                next.phase(Phase.RUNNING);
                run(next);
            }
            work++;
        }
        return work;
    }

    private void run(RpcCall call) {
        if (workers != null && !Opcode.isOfServer(call.opcode())) {
            call.handling(workers);
            workers.offer(call);
        } else {
            call.handling(null);
            call.handle();
        }
    }

    /** When {@link #doWork} has something to do although nothing comes; {@code Long.MAX_VALUE}. */
    long nextDeadlineNs() {
        long earliest = progress == null ? Long.MAX_VALUE : nextProgressNs;
        for (int i = 0; i < used.size(); i++) {
            earliest = RpcEndpoint.earlier(earliest, used.get(i).deadlineNs);
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

    /** Of another version: the sender gets an answer if its message names the call. */
    void onUnknownVersion(NntiPeer peer, DirectBuffer buffer, int at) {
        malformedCount++;
        refusal.begin(null)
                .request(RpcMessage.exchangeOf(buffer, at), RpcMessage.idOf(buffer, at), 0, 0)
                .code(RpcResult.EDECODE.code());
        refusal.send(transport, peer, false);
    }

    void finish(RpcCall call) {
        slots.give(call);
        call.ended();
        trace.ended(call);
        free(call);
    }

    /** Unless its handler has not returned yet. */
    private void free(RpcCall call) {
        if (!call.isHandling()) {
            call.phase(Phase.FREE);
            handled(call, call);
        }
    }

    private void handled(RpcCall call, RpcCall next) {
        used.remove(call);
        free.push(next); // as few as can be have the memory of arguments
        handledCount++;
        servedCount += call.isCounted ? 1 : 0;
    }

    /**
     * What runs handlers: the same agent {@link RpcServerOptions#threads} times, each to be run by
     * a thread of its own. Once.
     *
     * @param wakeup ends the sleep of those threads; any thread
     */
    public List<ProtocolAgent> workers(NanoClock clock, Runnable wakeup) {
        if (options.threads() == 0) {
            return List.of();
        }
        workers = new RequestWorkers(this, clock, wakeup);
        return Collections.nCopies(options.threads(), workers);
    }

    long nanoTime() {
        return transport.transport().nanoTime();
    }

    // ---- what it has done

    /** Whether it takes no new requests: it was killed, or has taken as many as it may. */
    public boolean isEnding() {
        return isOver(acceptedCount);
    }

    /**
     * Whether it was killed, or has handled as many requests as it may; all of them are answered.
     */
    public boolean isDone() {
        return exitCode != 0 || isOver(servedCount) && used.isEmpty();
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

    /** Requests that their data came with. */
    public long inlineDataCount() {
        return inlineDataCount;
    }

    /** Buffers of long results that clients have not fetched yet. */
    public int longResultCount() {
        return longResults.usedCount;
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
        CloseHelper.closeAll(longArgs, longResults, trace);
    }
}
