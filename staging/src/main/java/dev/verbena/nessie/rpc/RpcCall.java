package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.xdr.XdrValue;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.agrona.collections.Int2ObjectHashMap;

/**
 * One request at the server: its arguments, the client's bulk data, and the answer. Belongs to its
 * handler from the call until the reply, and to the server before and after. One thread at a time.
 */
public final class RpcCall {
    /** Where a request is. */
    enum Phase {
        FREE,
        FETCHING_ARGS,
        QUEUED,
        RUNNING,
        REPLYING,
        AWAITING_ACK,
        /** Answered, but its handler has not returned yet. */
        ENDED,
        /** Its client is gone and its handler has never answered. */
        ABANDONED
    }

    /** What a handler asks the server's thread to do. */
    enum Command {
        GET,
        PUT,
        /** The client puts. */
        ASK,
        REPLY
    }

    /** Is told on the server's thread that a transfer has ended. */
    public interface TransferListener {
        /** How it ended. */
        void onTransferred(RpcResult result);
    }

    private static final VarHandle HANDLING;

    static {
        try {
            HANDLING =
                    MethodHandles.lookup()
                            .findVarHandle(RpcCall.class, "isHandling", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final RpcServer server;
    private final RpcMessage request = new RpcMessage();
    private final RpcMessage reply = new RpcMessage();
    private final WorkRequest work = new WorkRequest().targetEvent(false);
    private final Int2ObjectHashMap<XdrValue> argsByOpcode = new Int2ObjectHashMap<>();

    /**
     * Set before the call goes to its handler, cleared by that; read by the server's thread. What
     * follows a release store need not wait for it, as it would for a volatile one.
     */
    @SuppressWarnings("unused") // by HANDLING
    private boolean isHandling;

    private Phase phase = Phase.FREE;
    private HandlerPort port;
    private NntiPeer peer;
    private XdrValue args;
    private RpcOperation operation;
    private NntiBuffer longArgs;
    private NntiBuffer longResult;
    private NntiBuffer slot;
    private long arrival;
    private long arrivalNs;
    private boolean isTimed;
    private long deadlineNs;
    private boolean isReplied;
    private boolean isOrphan;
    private boolean isCounted;
    private XdrValue result;
    private TransferListener listener;
    private boolean isAsking;
    private boolean isAskDue;

    /** How the client's put has ended; null: it has not. */
    private RpcResult pushed;

    private Command command;
    private NntiBuffer local;
    private long offset;
    private long length;
    private long dataOffset;

    RpcCall(RpcServer server) {
        this.server = server;
    }

    // ---- for handlers

    /** Number of the call at its client. */
    public long id() {
        return request.id();
    }

    /** The operation. */
    public int opcode() {
        return request.opcode();
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
        return request.dataLength();
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
     * Reads the client's data into a buffer, and waits. 0 bytes are no traffic.
     *
     * @return {@code EINVAL} for a range outside the client's data or the buffer
     */
    public RpcResult getData(NntiBuffer destination, long at, long bytes, long fromOffset) {
        return port.transfer(this, Command.GET, destination, at, bytes, fromOffset);
    }

    /** Writes into the client's data, and waits; see {@link #getData}. */
    public RpcResult putData(NntiBuffer source, long at, long bytes, long toOffset) {
        return port.transfer(this, Command.PUT, source, at, bytes, toOffset);
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
        return port.transfer(this, Command.ASK, destination, at, bytes, fromOffset);
    }

    /**
     * Starts to read the client's data. For handlers in the server's loop; one transfer at a time.
     *
     * @return {@code OK}: the listener will be told; otherwise it will not
     */
    public RpcResult startGetData(
            NntiBuffer destination, long at, long bytes, long fromOffset, TransferListener to) {
        return server.start(this, Command.GET, destination, at, bytes, fromOffset, to);
    }

    /** Starts to write into the client's data; see {@link #startGetData}. */
    public RpcResult startPutData(
            NntiBuffer source, long at, long bytes, long toOffset, TransferListener to) {
        return server.start(this, Command.PUT, source, at, bytes, toOffset, to);
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
        reply.request(request.exchange(), request.id(), request.opcode(), 0).code(code);
        result = code == 0 ? value : null;
        return port.reply(this);
    }

    /** Asks the client to put; see {@link #askData} and {@link #startGetData}. */
    public RpcResult startAskData(
            NntiBuffer destination, long at, long bytes, long fromOffset, TransferListener to) {
        return server.start(this, Command.ASK, destination, at, bytes, fromOffset, to);
    }

    // ---- for the server

    void arrived(NntiPeer from, long number) {
        peer = from;
        arrival = number;
        isTimed = false;
        isReplied = false;
        isOrphan = false;
        isCounted = false;
        isAsking = false;
        args = null;
        result = null;
        operation = null;
    }

    /** Its age counts from here, if it did not before. */
    void timed(long nowNs) {
        if (!isTimed) {
            isTimed = true;
            arrivalNs = nowNs;
        }
    }

    /**
     * Its handler runs, where this port leads from; meanwhile the object is of no other request.
     */
    void handling(HandlerPort from) {
        port = from;
        HANDLING.setRelease(this, true); // the queue to the handler orders it, too
    }

    void handled() {
        HANDLING.setRelease(this, false); // pairs with isHandling()
    }

    boolean isHandling() {
        return (boolean) HANDLING.getAcquire(this); // pairs with handled()
    }

    void phase(Phase next) {
        phase = next;
    }

    Phase phase() {
        return phase;
    }

    void operation(RpcOperation itsOperation) {
        operation = itsOperation;
        if (itsOperation.args() == null) {
            args = null;
            return;
        }
        args = argsByOpcode.get(request.opcode());
        if (args == null) {
            args = itsOperation.args().get();
            argsByOpcode.put(request.opcode(), args);
        }
    }

    RpcOperation operation() {
        return operation;
    }

    void longArgs(NntiBuffer buffer) {
        longArgs = buffer;
    }

    NntiBuffer longArgs() {
        return longArgs;
    }

    void longResult(NntiBuffer buffer, long deadline) {
        longResult = buffer;
        deadlineNs = deadline;
    }

    NntiBuffer longResult() {
        return longResult;
    }

    long deadlineNs() {
        return deadlineNs;
    }

    void slot(NntiBuffer buffer) {
        slot = buffer;
    }

    /** One of those of which a server may only serve so many. */
    void counted() {
        isCounted = true;
    }

    boolean isCounted() {
        return isCounted;
    }

    void orphaned() {
        isOrphan = true;
    }

    boolean isOrphan() {
        return isOrphan;
    }

    boolean isReplied() {
        return isReplied;
    }

    void command(Command what, NntiBuffer buffer, long at, long bytes, long remoteOffset) {
        command = what;
        local = buffer;
        offset = at;
        length = bytes;
        dataOffset = remoteOffset;
    }

    TransferListener takeListener() {
        TransferListener taken = listener;
        listener = null;
        return taken;
    }

    boolean isMoving() {
        return listener != null;
    }

    /** A transfer begins, by the client or by the server. */
    void moving(TransferListener to, boolean isByClient) {
        listener = to;
        isAsking = isByClient;
        isAskDue = isByClient;
        pushed = null;
    }

    /** The client is still to be asked. */
    boolean isAskDue() {
        return isAskDue;
    }

    /** The client was asked, or will have to be later. */
    void asked(boolean isSent, RpcResult how) {
        isAskDue = !isSent;
        pushed = isSent && how != RpcResult.OK ? how : null;
    }

    void pushed(RpcResult how) {
        pushed = how;
    }

    /** The client was asked to put, and has not said that it did. */
    boolean mayStillBePushed() {
        return isAsking && !isAskDue && pushed == null;
    }

    /** Whether the transfer has ended; that of a client that is gone has, too. */
    boolean isMoved() {
        return isAsking ? pushed != null || isOrphan : work.isComplete();
    }

    /** How it has ended. */
    RpcResult moved() {
        if (isAsking) {
            return pushed == null ? RpcResult.EIO : pushed;
        }
        return RpcResult.of(work.status().result());
    }

    Command command() {
        return command;
    }

    NntiBuffer local() {
        return local;
    }

    long offset() {
        return offset;
    }

    long length() {
        return length;
    }

    long dataOffset() {
        return dataOffset;
    }

    long arrival() {
        return arrival;
    }

    RpcMessage request() {
        return request;
    }

    RpcMessage reply() {
        return reply;
    }

    XdrValue result() {
        return result;
    }

    void noResult() {
        result = null;
    }

    WorkRequest work() {
        return work;
    }
}
