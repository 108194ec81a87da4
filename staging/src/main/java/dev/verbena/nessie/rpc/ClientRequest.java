package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.xdr.XdrValue;

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

    private final RpcMessage header = new RpcMessage();
    private State state = State.NULL;
    private RpcResult result = RpcResult.OK;
    private int remoteCode;
    private long id;
    private RpcService service;
    private XdrValue args;
    private XdrValue resultValue;
    private NntiBuffer data;
    private NntiBuffer longArgs;
    private NntiBuffer longResult;
    private WorkRequest fetch = new WorkRequest().targetEvent(false);
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

    void begin(long callId, RpcService to, XdrValue values, XdrValue resultTo, long limitNs) {
        if (state != State.NULL && !isDone()) {
            throw new IllegalStateException("this request is still of call " + id + ", " + state);
        }
        id = callId;
        service = to;
        args = values;
        resultValue = resultTo;
        timeoutNs = limitNs;
        isTimed = false;
        state = State.SENDING;
        result = RpcResult.OK;
        remoteCode = 0;
        data = null;
        pushCount = 0;
    }

    void data(NntiBuffer buffer) {
        data = buffer;
    }

    NntiBuffer data() {
        return data;
    }

    /** The server has asked for data. */
    void pushed() {
        pushCount++;
    }

    void sent() {
        state = State.PROCESSING_REQUEST;
    }

    void fetching(NntiBuffer into, int code) {
        longResult = into;
        remoteCode = code;
        state = State.PROCESSING_RESULT;
    }

    void longArgs(NntiBuffer buffer) {
        longArgs = buffer;
    }

    NntiBuffer takeLongArgs() {
        NntiBuffer taken = longArgs;
        longArgs = null;
        return taken;
    }

    NntiBuffer takeLongResult() {
        NntiBuffer taken = longResult;
        longResult = null;
        return taken;
    }

    /** The fetch that is under way is left to itself. */
    WorkRequest takeFetch() {
        WorkRequest taken = fetch;
        fetch = new WorkRequest().targetEvent(false);
        return taken;
    }

    void done(State end, RpcResult local, int remote) {
        state = end;
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
        return id;
    }

    /** How often the server has asked for data, see {@link RpcCall#askData}. */
    public int pushCount() {
        return pushCount;
    }

    RpcMessage header() {
        return header;
    }

    RpcService service() {
        return service;
    }

    XdrValue args() {
        return args;
    }

    XdrValue resultValue() {
        return resultValue;
    }

    NntiBuffer longResult() {
        return longResult;
    }

    WorkRequest fetch() {
        return fetch;
    }

    /** Its time begins, if it has not begun before. */
    void timed(long nowNs) {
        if (!isTimed) {
            isTimed = true;
            deadlineNs = nowNs + timeoutNs;
        }
    }

    /** Valid once it is timed. */
    long deadlineNs() {
        return deadlineNs;
    }
}
