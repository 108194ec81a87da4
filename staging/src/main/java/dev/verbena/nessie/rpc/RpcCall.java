package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.rpc.wire.RpcAsk;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * One request at the server: its arguments, the client's bulk data, and the answer. Belongs to its
 * handler from the call until the reply, and to the server before and after. One thread at a time.
 */
public final class RpcCall {
    /** Is told on the server's thread that a transfer has ended. */
    public interface TransferListener {
        /** How it ended. */
        void onTransferred(RpcResult result);
    }

    private final RpcServer server;
    final RpcMessage request = new RpcMessage();
    final Outgoing reply = new Outgoing();
    final Fetch longArgs = new Fetch();

    /** When it has reached each phase, if it is traced; those before {@code QUEUED} are one. */
    final long[] phaseNs = new long[Phase.values().length];

    boolean isTraced;
    private WorkRequest work = new WorkRequest().targetEvent(false);
    private final Int2ObjectHashMap<XdrValue> argsByOpcode = new Int2ObjectHashMap<>();

    /** Set before the call goes to its handler, cleared by that, with a release store only. */
    private final AtomicBoolean isHandling = new AtomicBoolean();

    Phase phase = Phase.FREE;

    /** Of whose threads one runs the handler; null: the server's own. */
    private RequestWorkers workers;

    private NntiPeer peer;
    private XdrValue args;
    RpcOperation operation;
    private NntiBuffer slot;
    long arrival;
    private long arrivalNs;
    private boolean isTimed;

    /** How long the client may take for what it is to do next; {@code Long.MAX_VALUE}: nothing. */
    long deadlineNs;

    private boolean isReplied;
    boolean isOrphan;

    /** One of those of which a server may only serve so many. */
    boolean isCounted;

    private TransferListener listener;
    private boolean isAsking;
    private boolean isAskDue;

    /** How the client's put has ended; null: it has not. */
    private RpcResult pushed;

    /** What of the client's data came with the request. */
    private final ExpandableArrayBuffer inline = new ExpandableArrayBuffer(64);

    private Command command;
    private NntiBuffer local;

    /** What is to be moved; also sent to the client if that is to put. */
    private final RpcAsk range = new RpcAsk();

    /** What the server's thread has answered to a handler on another one; null: nothing yet. */
    private RpcResult answer;

    RpcCall(RpcServer server) {
        this.server = server;
    }

    // ---- for handlers

    /** Number of the call at its client. */
    public long id() {
        return request.fields.id();
    }

    /** The operation. */
    public int opcode() {
        return request.fields.opcode();
    }

    /** The client. */
    public NntiPeer peer() {
        return peer;
    }

    /** The arguments, of the type that was registered; null: none. */
    public XdrValue args() {
        return args;
    }

    /** Nobody waits for an answer: the call ends when its handler returns. */
    public boolean isResponseless() {
        return request.isResponseless();
    }

    /** Bytes of the client's bulk data. */
    public long dataLength() {
        return request.fields.dataLength();
    }

    /** Nanoseconds since the request arrived; 0 if it went to its handler at once. */
    public long ageNs() {
        long now = server.nanoTime();
        timed(now);
        return now - arrivalNs;
    }

    /** The buffer that the operation asked for; belongs to this call until its reply. */
    public NntiBuffer slot() {
        return slot;
    }

    /**
     * Reads the client's data into a buffer, and waits. 0 bytes are no traffic, nor are data that
     * came with the request.
     *
     * @return {@code EINVAL} for a range outside the client's data or the buffer
     */
    public RpcResult getData(NntiBuffer destination, long at, long bytes, long fromOffset) {
        return move(Command.GET, destination, at, bytes, fromOffset, null);
    }

    /**
     * Writes into the client's data, and waits; see {@link #getData}. {@code EPERM}: the client
     * does not permit it, as of all data that came with the request.
     */
    public RpcResult putData(NntiBuffer source, long at, long bytes, long toOffset) {
        return move(Command.PUT, source, at, bytes, toOffset, null);
    }

    /**
     * Asks the client to put its data into a buffer, and waits; see {@link #getData}. For networks
     * on which puts are faster than gets. The client must be in its loop, and its data have the
     * flag {@code PUT_SRC}.
     *
     * @param destination the call's {@link #slot}, or memory that a client which disconnects
     *     meanwhile may still write to; with the flag {@code PUT_DST}
     */
    public RpcResult askData(NntiBuffer destination, long at, long bytes, long fromOffset) {
        return move(Command.ASK, destination, at, bytes, fromOffset, null);
    }

    /**
     * Starts to read the client's data. For handlers in the server's loop; one transfer at a time.
     *
     * @return {@code OK}: the listener will be told; otherwise it will not
     */
    public RpcResult startGetData(
            NntiBuffer destination, long at, long bytes, long fromOffset, TransferListener to) {
        return move(Command.GET, destination, at, bytes, fromOffset, to);
    }

    /** Starts to write into the client's data; see {@link #startGetData}. */
    public RpcResult startPutData(
            NntiBuffer source, long at, long bytes, long toOffset, TransferListener to) {
        return move(Command.PUT, source, at, bytes, toOffset, to);
    }

    /**
     * Answers, exactly once.
     *
     * @param code 0 for success; otherwise no result is sent
     * @param value encoded before this returns; null: none
     * @return {@code EINVAL}: answered before, {@code EIO}: the client is gone, {@code EENCODE}
     */
    public RpcResult reply(int code, XdrValue value) {
        if (isReplied) {
            return RpcResult.EINVAL;
        }
        isReplied = true;
        command = Command.REPLY;
        prepareReply(code, value);
        return workers == null ? sendReply() : workers.ask(this);
    }

    private void prepareReply(int code, XdrValue value) {
        RpcMessage header = reply.begin(code == 0 ? value : null);
        header.request(request.fields.exchange(), id(), opcode(), 0).code(code);
    }

    /** Asks the client to put; see {@link #askData} and {@link #startGetData}. */
    public RpcResult startAskData(
            NntiBuffer destination, long at, long bytes, long fromOffset, TransferListener to) {
        return move(Command.ASK, destination, at, bytes, fromOffset, to);
    }

    private RpcResult move(
            Command what, NntiBuffer buffer, long at, long bytes, long from, TransferListener to) {
        boolean isBusy = isMoving() || mayStillMove();
        if (!request.isInData(from, bytes) || isBusy || phase != Phase.RUNNING) {
            return RpcResult.EINVAL;
        }
        command = what;
        local = buffer;
        range.dataOffset(from).length(bytes).bufferOffset(at);
        if (to != null || workers == null) {
            return to == null ? moveAndWait() : start(to);
        }
        return workers.ask(this);
    }

    private RpcResult moveAndWait() {
        RpcResult started = start(how -> {});
        while (isMoving() && !isMoved()) {
            server.transport.await(this::isMoved, NntiTransport.NEVER);
        }
        return isMoving() ? moved() : started;
    }

    // ---- for the server

    void arrived(NntiPeer from, long number, boolean isToBeTraced) {
        isTraced = isToBeTraced;
        if (isTraced) {
            Arrays.fill(phaseNs, server.nanoTime());
        }
        peer = from;
        arrival = number;
        isTimed = false;
        deadlineNs = Long.MAX_VALUE;
        isReplied = false;
        isOrphan = from.state() == NntiPeer.State.CLOSED; // its message has waited for room
        isCounted = false;
        isAsking = false;
        reply.header.code(RpcResult.EIO.code()); // if it ends without an answer
    }

    /** Keeps the data that came with the request, whose message is over when this returns. */
    void keepInline(DirectBuffer message) {
        int at = request.bodyAt + request.fields.bodyLength();
        inline.putBytes(0, message, at, (int) dataLength());
    }

    /** Its age counts from here, if it did not before. */
    void timed(long nowNs) {
        if (!isTimed) {
            isTimed = true;
            arrivalNs = nowNs;
        }
    }

    /** Its handler is to run; meanwhile the object is of no other request. */
    void handling(RequestWorkers by) {
        workers = by;
        isHandling.setRelease(true); // the queue to the handler orders it, too
    }

    /** Runs it. One that throws, be it an Error, costs its client this call and nobody a thread. */
    void handle() {
        try {
            operation.handler().onCall(this);
            if (isResponseless() && !isReplied) {
                reply(0, null);
            }
        } catch (Exception | Error e) {
            server.errorHandler.onError(e);
            reply(RpcResult.EBADRPC.code(), null);
        } finally {
            isHandling.setRelease(false); // pairs with isHandling()
        }
    }

    boolean isHandling() {
        return isHandling.getAcquire(); // pairs with handle()
    }

    void phase(Phase next) {
        phase = next;
        if (isTraced) {
            phaseNs[next.ordinal()] = server.nanoTime();
        }
    }

    void operation(RpcOperation itsOperation) {
        operation = itsOperation;
        isCounted = opcode() < Opcode.NULL || opcode() > Opcode.TRACE_RESET;
        args = argsByOpcode.get(opcode());
        if (args == null && itsOperation.args() != null) {
            args = itsOperation.args().get();
            argsByOpcode.put(opcode(), args);
        }
    }

    void slot(NntiBuffer buffer) {
        slot = buffer;
    }

    void orphaned() {
        isOrphan = true;
    }

    // ---- what its handler asks for, on the server's thread

    /** The server itself answers, in place of a handler. */
    RpcResult refuse(RpcResult why) {
        phase(Phase.RUNNING);
        prepareReply(why.code(), null);
        return sendReply();
    }

    /** Encodes and sends the answer, or keeps it until it can be sent. */
    RpcResult sendReply() {
        if (phase == Phase.ABANDONED) {
            return RpcResult.EIO; // another call has its place
        }
        boolean isFirst = phase != Phase.REPLYING;
        if (isFirst) {
            phase(Phase.REPLYING);
        }
        if (isOrphan || isResponseless()) {
            answered(false);
            return isOrphan ? RpcResult.EIO : RpcResult.OK;
        }
        RpcResult prepared = RpcResult.OK;
        if (isFirst) {
            prepared = reply.prepare(server.lengthMax, Integer.MAX_VALUE, server.longResults);
        }
        NntiResult sent = reply.send(server.transport, peer, false);
        if (sent == NntiResult.EAGAIN || sent == NntiResult.EENCODE) {
            // The handler may change its result once reply has returned.
            reply.encodeLong(server.longResults);
            deadlineNs = isFirst ? later() : deadlineNs;
            return prepared;
        }
        if (reply.buffer != null) {
            deadlineNs = later();
            phase(Phase.AWAITING_ACK);
        } else {
            server.finish(this);
        }
        return sent == NntiResult.OK ? prepared : RpcResult.of(sent);
    }

    private long later() {
        return server.nanoTime() + server.options.fetchTimeoutNs();
    }

    boolean isLate() {
        return server.nanoTime() - deadlineNs >= 0;
    }

    /** Nothing more is sent; the client has its long result, or does not get it. */
    void answered(boolean isFetched) {
        reply.free(server.longResults, isFetched);
        server.finish(this);
    }

    /** Does what a handler on another thread asks for, which waits. */
    void execute() {
        if (command == Command.REPLY) {
            answer(sendReply());
            return;
        }
        RpcResult started = start(this::answer);
        if (started != RpcResult.OK) {
            answer(started);
        }
    }

    /** Null: not yet. */
    synchronized void answer(RpcResult how) {
        answer = how;
        notifyAll();
    }

    synchronized RpcResult answer() {
        return answer;
    }

    private RpcResult start(TransferListener to) {
        long length = range.length();
        if (length == 0) {
            to.onTransferred(RpcResult.OK);
            return RpcResult.OK;
        }
        long at = range.bufferOffset();
        long from = range.dataOffset();
        if (request.isDataInline()) {
            // No buffer has flag 0: these data cannot be written to.
            int asked = command == Command.ASK ? BufferFlags.PUT_DST : 0;
            int flag = command == Command.GET ? BufferFlags.GET_DST : asked;
            NntiResult stored = local.store(flag, at, inline, (int) from, (int) length);
            if (stored == NntiResult.OK) {
                to.onTransferred(RpcResult.OK);
            }
            return RpcResult.of(stored);
        }
        NntiTransport transport = server.transport;
        NntiResult started =
                switch (command) {
                    case GET -> transport.get(peer, request.data, from, length, local, at, work);
                    case PUT -> transport.put(peer, local, at, length, request.data, from, work);
                    default -> checkAsk(transport);
                };
        if (started == NntiResult.OK) {
            listener = to;
            isAsking = command == Command.ASK;
            isAskDue = isAsking;
            pushed = null;
            // A second more for each 16 MiB.
            deadlineNs = isAsking ? later() + (length >> 24) * 1_000_000_000L : Long.MAX_VALUE;
            isMoved();
        }
        return RpcResult.of(started);
    }

    private NntiResult checkAsk(NntiTransport transport) {
        int bytes = RpcMessage.ASK_LENGTH + local.handle().encodedLength();
        return bytes > transport.messageLengthMax()
                ? NntiResult.EMSGSIZE
                : local.check(BufferFlags.PUT_DST, range.bufferOffset(), range.length());
    }

    boolean isMoving() {
        return listener != null;
    }

    /** Asks the client to put, if that is still to be done. */
    private void ask(NntiTransport transport) {
        int at = transport.claim();
        if (at >= 0) {
            range.exchange(request.fields.exchange()).id(id());
            int bytes = RpcMessage.encode(range, local.handle(), transport.messages(), at);
            NntiResult sent = transport.commit(peer, bytes);
            isAskDue = sent == NntiResult.EAGAIN;
            pushed = isAskDue || sent == NntiResult.OK ? null : RpcResult.of(sent);
        }
    }

    void pushed(RpcResult how) {
        pushed = how;
    }

    /** The client was asked to put, and has not said that it did. */
    boolean mayStillBePushed() {
        return isAsking && !isAskDue && pushed == null;
    }

    /** Whether the local buffer of the last transfer is still used. */
    boolean mayStillMove() {
        return mayStillBePushed() || work.state() == WorkRequest.State.PENDING;
    }

    /** Whether the transfer has ended; that of a client that is gone or silent has, too. */
    boolean isMoved() {
        if (isAskDue) {
            ask(server.transport);
        }
        return isAsking ? pushed != null || isOrphan || isLate() : work.isComplete();
    }

    private RpcResult moved() {
        listener = null;
        deadlineNs = Long.MAX_VALUE;
        if (isAsking && pushed == null) {
            return isOrphan ? RpcResult.EIO : RpcResult.ETIMEDOUT;
        }
        return isAsking ? pushed : RpcResult.of(work.status().result());
    }

    /** Tells the listener that the transfer has ended. */
    void transferred() {
        TransferListener told = listener;
        told.onTransferred(moved());
    }

    /** Nobody is to be told any more. A transfer that is under way is left to itself. */
    void ended() {
        listener = null;
        deadlineNs = Long.MAX_VALUE;
        if (work.state() == WorkRequest.State.PENDING) {
            work = new WorkRequest().targetEvent(false);
        }
        phase(Phase.ENDED);
    }
}
