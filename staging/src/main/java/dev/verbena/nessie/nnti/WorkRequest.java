package dev.verbena.nessie.nnti;

/**
 * One operation under way. Made once by its user and used again and again: starting an operation
 * with it forgets the one before. Owned by the transport's thread.
 */
public final class WorkRequest {
    /** Life of an operation. */
    public enum State {
        /** Of no operation. */
        NULL,
        /** Under way, or waits until it can be posted. */
        PENDING,
        /** Ended; see {@link WorkRequest#status()}. */
        COMPLETE
    }

    /** How far an operation that is under way has come. */
    enum Phase {
        /** Parts are posted and move. */
        MOVING,
        /** The target is to be told. */
        NOTIFYING
    }

    private final NntiStatus status = new NntiStatus();
    private final BufferHandle remote = new BufferHandle();
    private State state = State.NULL;
    private Phase phase = Phase.MOVING;
    private NntiOperation operation;
    private NntiBuffer buffer;
    private NntiPeer peer;
    private long offset;
    private long remoteOffset;
    private long length;
    private long operand;
    private long posted;
    private long value;
    private int outstanding;
    private int slot = -1;
    private boolean isNotifying;
    private boolean isPooled;
    private boolean isAnswered;
    private NntiResult worst = NntiResult.OK;
    private WorkRequest newer;
    private WorkRequest older;

    /** Of no operation yet. */
    public WorkRequest() {}

    WorkRequest pooled() {
        isPooled = true;
        return this;
    }

    boolean isPooled() {
        return isPooled;
    }

    /** Begins anew. */
    void begin(
            NntiOperation kind,
            NntiBuffer local,
            long localOffset,
            long count,
            NntiPeer to,
            BufferHandle target,
            long targetOffset,
            boolean tellTarget) {
        if (state == State.PENDING) {
            throw new IllegalStateException("this work request is still under way: " + operation);
        }
        operation = kind;
        buffer = local;
        offset = localOffset;
        length = count;
        peer = to;
        remoteOffset = targetOffset;
        isNotifying = tellTarget;
        if (target == null) {
            remote.clear();
        } else {
            remote.set(target);
        }
        state = State.PENDING;
        phase = Phase.MOVING;
        posted = 0;
        outstanding = 0;
        value = 0;
        isAnswered = false;
        worst = NntiResult.OK;
    }

    void operands(long first, long second) {
        operand = first;
        value = second;
    }

    long firstOperand() {
        return operand;
    }

    long secondOperand() {
        return value;
    }

    void partPosted(long bytes) {
        posted += bytes;
        outstanding++;
    }

    void partEnded(NntiResult result, long found) {
        outstanding--;
        value = found;
        fail(result);
    }

    void fail(NntiResult result) {
        worst = worst == NntiResult.OK ? result : worst;
    }

    /** The peer has said whether it takes this message. */
    void answered(NntiResult result) {
        isAnswered = true;
        fail(result);
    }

    boolean isAnswered() {
        return isAnswered;
    }

    void notifying() {
        phase = Phase.NOTIFYING;
    }

    void complete(long at, long bytes) {
        state = State.COMPLETE;
        status.set(operation, worst, buffer, at, bytes, peer);
    }

    void complete(NntiStatus event) {
        state = State.COMPLETE;
        status.set(event);
    }

    /** It is used again, or its end was seen: its buffer need not keep it. */
    void detach() {
        if (isComplete() && buffer != null) {
            buffer.taken(this);
        }
    }

    /** Gives up to wait for an arrival. */
    void cancelReceive() {
        buffer.removeReceive(this);
        fail(NntiResult.ECANCELED);
        complete(0, 0);
    }

    void forget() {
        state = State.NULL;
        buffer = null;
        peer = null;
    }

    void slot(int index) {
        slot = index;
    }

    int slot() {
        return slot;
    }

    void older(WorkRequest neighbour) {
        older = neighbour;
    }

    void newer(WorkRequest neighbour) {
        newer = neighbour;
    }

    WorkRequest older() {
        return older;
    }

    WorkRequest newer() {
        return newer;
    }

    /** See {@link State}. */
    public State state() {
        return state;
    }

    /** Whether its operation has ended. */
    public boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** How it ended; valid once complete, until it is used again. */
    public NntiStatus status() {
        return status;
    }

    Phase phase() {
        return phase;
    }

    NntiOperation operation() {
        return operation;
    }

    NntiBuffer buffer() {
        return buffer;
    }

    NntiPeer peer() {
        return peer;
    }

    BufferHandle remote() {
        return remote;
    }

    long offset() {
        return offset;
    }

    long remoteOffset() {
        return remoteOffset;
    }

    long length() {
        return length;
    }

    long posted() {
        return posted;
    }

    long value() {
        return value;
    }

    int outstanding() {
        return outstanding;
    }

    boolean isNotifying() {
        return isNotifying;
    }

    NntiResult worst() {
        return worst;
    }
}
