package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.xdr.XdrValue;
import java.util.function.BooleanSupplier;

/**
 * One call of a client. Made once and used again and again. The arguments may be changed once the
 * state is past {@link State#SENDING}; result and bulk data belong to the call until it is done.
 * Owned by the client's thread.
 */
public final class ClientRequest {
    /** Life of a call (specification, section 2.1). */
    public enum State {
        NULL,
        SENDING,
        PROCESSING_REQUEST,
        PROCESSING_RESULT,
        COMPLETE,
        ERROR,
        TIMED_OUT
    }

    /** Has the client work, and tells whether the call is done; made once, for those who wait. */
    final BooleanSupplier completion = this::look;

    /** The request as it is sent. */
    final Outgoing message = new Outgoing();

    private State state = State.NULL;
    private RpcResult result = RpcResult.OK;
    private int remoteCode;
    private RpcClient client;
    RpcService service;
    XdrValue resultValue;
    NntiBuffer data;
    final Fetch fetch = new Fetch();
    private long timeoutNs;
    private long deadlineNs;
    private boolean isTimed;
    private int pushCount;
    private Runnable onDone;

    /** Of no call yet. */
    public ClientRequest() {}

    /** Is run on the client's thread when a call is done; null: nothing. */
    public void onDone(Runnable action) {
        onDone = action;
    }

    private boolean look() {
        if (!isDone() && client != null) {
            client.doWork();
        }
        return isDone() || client == null;
    }

    void begin(RpcClient by, RpcService to, XdrValue resultTo, NntiBuffer bulk, long limitNs) {
        if (state != State.NULL && !isDone()) {
            throw new IllegalStateException("this request is still of call " + id() + ", " + state);
        }
        client = by;
        service = to;
        resultValue = resultTo;
        data = bulk;
        timeoutNs = limitNs;
        isTimed = false;
        state = State.SENDING;
        result = RpcResult.OK;
        remoteCode = 0;
        pushCount = 0;
    }

    /** The server has asked for data. */
    void pushed() {
        pushCount++;
    }

    void sent() {
        state = State.PROCESSING_REQUEST;
    }

    void fetching(int code) {
        remoteCode = code;
        state = State.PROCESSING_RESULT;
    }

    void done(RpcResult local, int remote) {
        boolean isLate = local == RpcResult.ETIMEDOUT;
        State bad = isLate ? State.TIMED_OUT : State.ERROR;
        state = local == RpcResult.OK ? State.COMPLETE : bad;
        result = local;
        remoteCode = remote;
        if (onDone != null) {
            onDone.run();
        }
    }

    /** See {@link State}. */
    public State state() {
        return state;
    }

    /** Complete, failed or timed out. */
    public boolean isDone() {
        return state.compareTo(State.COMPLETE) >= 0;
    }

    /** How the call itself went; what the remote procedure said is {@link #remoteCode}. */
    public RpcResult result() {
        return result;
    }

    /** The procedure's own code, 0 for success; valid if {@link #result} is {@code OK}. */
    public int remoteCode() {
        return remoteCode;
    }

    /** Number of the call. */
    public long id() {
        return message.header.fields.id();
    }

    /** How often the server has asked for data, see {@link RpcCall#askData}. */
    public int pushCount() {
        return pushCount;
    }

    /** When its time ends, which begins when this is first asked for. */
    long deadlineNs(long nowNs) {
        if (!isTimed) {
            isTimed = true;
            deadlineNs = nowNs + timeoutNs;
        }
        return deadlineNs;
    }
}
