package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import java.util.function.BooleanSupplier;

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

    /** {@link #isComplete}, made once for those who wait. */
    final BooleanSupplier completion = this::isComplete;

    /** Of the operation, also while it is under way: the first result that is bad. */
    private final NntiStatus status = new NntiStatus();

    final BufferHandle remote = new BufferHandle();
    final boolean isPooled;
    private State state = State.NULL;

    /** Null: as the transport says. */
    private Boolean targetEvent;

    long remoteOffset;
    private long operand;
    private long update;
    private long posted;
    private long value;
    int outstanding;
    int slot = -1;

    /** The target is still to be told. */
    private boolean isTelling;

    boolean isNotifying;
    boolean isAnswered;

    /** Its buffer has it among the operations whose ends were not seen. */
    private boolean isIssued;

    /** Of no operation yet. */
    public WorkRequest() {
        this(false);
    }

    WorkRequest(boolean isPooled) {
        this.isPooled = isPooled;
    }

    /**
     * Says for all puts and gets with this object whether the target learns of them, whatever the
     * transport's options say; it does so only if both have target events.
     */
    public WorkRequest targetEvent(boolean isRaised) {
        targetEvent = isRaised;
        return this;
    }

    /** Begins anew. */
    void begin(NntiOperation kind, NntiBuffer in, long at, long size, NntiPeer with) {
        if (state == State.PENDING) {
            throw new IllegalStateException(
                    "this work request is still under way: " + status.operation());
        }
        detach();
        status.set(kind, NntiResult.OK, in, at, size, with);
        remote.clear();
        state = State.PENDING;
        posted = 0;
        outstanding = 0;
        value = 0;
        isNotifying = false;
        isAnswered = false;
    }

    /**
     * Says where it goes.
     *
     * @param target null: to no memory that the peer has named
     */
    void target(BufferHandle target, long offset, boolean hasTargetEvents) {
        NntiOperation operation = status.operation();
        boolean mayBeSilent = operation == NntiOperation.PUT || operation == NntiOperation.GET;
        boolean isAsked = targetEvent == null ? hasTargetEvents : targetEvent;
        boolean isQuiet = operation.isAtomic() && target.bufferId() != Messages.VARIABLES;
        isTelling = !isQuiet && (!mayBeSilent || isAsked && !target.isJoined());
        remoteOffset = offset;
        if (target != null) {
            remote.set(target);
        }
    }

    /** Of an atomic operation that begins next. */
    void operands(long first, long second) {
        if (state != State.PENDING) {
            operand = first;
            update = second;
        }
    }

    /** It is in its buffer's order from now on, if it has a buffer. */
    void issue() {
        isIssued = status.buffer() != null;
        if (isIssued) {
            status.buffer().operations.add(this);
        }
    }

    /** It is used again, or its end was seen: its buffer need not keep it. */
    void detach() {
        if (isIssued && isComplete()) {
            isIssued = false;
            status.buffer().detach(this);
        }
    }

    // ---- its way through the transport

    /** Posts what is still to be posted; false: the transport takes no more now. */
    boolean post(Transport transport, long context, boolean canNotify) {
        boolean isFirst = hasNotBegun();
        while (status.result() == NntiResult.OK && (posted < status.length() || isFirst)) {
            isFirst = false;
            int answer =
                    status.operation().isAtomic()
                            ? postAtomic(transport, context)
                            : postPart(transport, context, canNotify);
            if (answer == Transport.BACK_PRESSURED) {
                return false;
            }
            if (answer != Transport.ACCEPTED) {
                status.fail(NntiResult.ofAnswer(answer));
            }
        }
        return true;
    }

    private int postAtomic(Transport transport, long context) {
        long connection = status.peer().connection;
        int segment = remote.segmentOf(remoteOffset);
        RemoteDescriptor there = remote.segment(segment);
        long at = remoteOffset - remote.startOf(segment);
        int answer =
                status.operation() == NntiOperation.FETCH_ADD
                        ? transport.fetchAdd(connection, there, at, operand, context, 0)
                        : transport.compareSwap(connection, there, at, operand, update, context, 0);
        return partPosted(answer, status.length());
    }

    private int postPart(Transport transport, long context, boolean canNotify) {
        BufferHandle local = status.buffer().handle();
        long offset = status.offset() + posted;
        long at = remoteOffset + posted;
        int from = local.segmentOf(offset);
        int to = remote.segmentOf(at);
        offset -= local.startOf(from);
        at -= remote.startOf(to);
        RegisteredRegion region = status.buffer().regions[from];
        RemoteDescriptor there = remote.segment(to);
        long length = Math.min(status.length() - posted, region.length() - offset);
        length = Math.min(length, there.length() - at);
        long peer = status.peer().connection;
        NntiOperation operation = status.operation();
        boolean isWhole = length == status.length() && remote.segmentCount() == 1;
        int answer;
        if (operation == NntiOperation.GET) {
            answer = transport.get(peer, region, offset, there, at, length, context, 0);
        } else if (isTelling && canNotify && isWhole) {
            int tag = operation.ordinal();
            answer = transport.putNotify(peer, region, offset, there, at, length, tag, context, 0);
            isTelling = answer != Transport.ACCEPTED;
        } else {
            answer = transport.put(peer, region, offset, there, at, length, context, 0);
        }
        return partPosted(answer, length);
    }

    /** The transport has answered, for so many bytes. */
    int partPosted(int answer, long bytes) {
        boolean isAccepted = answer == Transport.ACCEPTED;
        posted += isAccepted ? bytes : 0;
        outstanding += isAccepted ? 1 : 0;
        return answer;
    }

    void partEnded(NntiResult result, long found) {
        outstanding--;
        value = found;
        status.fail(result);
    }

    boolean isPosted() {
        return posted == status.length();
    }

    boolean hasNotBegun() {
        return posted == 0 && outstanding == 0 && !isNotifying;
    }

    /** Whether the transport may still read or write the buffer; a message is copied before. */
    boolean usesMemory() {
        return state == State.PENDING && !isNotifying && !isMessage();
    }

    /** Whether the target is to be told by a message; if so, that is what is next. */
    boolean needsNotice() {
        isNotifying = isTelling && status.result() == NntiResult.OK;
        return isNotifying;
    }

    /** Whether it is a send without a destination. */
    boolean isMessage() {
        return status.operation() == NntiOperation.SEND && remote.isAbsent();
    }

    /** The peer has said whether it takes this message. */
    void answered(NntiResult result) {
        isAnswered = true;
        status.fail(result);
    }

    void complete() {
        if (status.operation().isAtomic()) {
            status.length(value);
        }
        state = State.COMPLETE;
        if (status.buffer() != null) {
            status.buffer().ended(status);
        }
    }

    /** Ends with what its last step brought, unless that is to be tried again: false. */
    boolean end(NntiResult result) {
        if (result != NntiResult.EAGAIN) {
            status.fail(result);
            complete();
        }
        return result != NntiResult.EAGAIN;
    }

    /** A receive ends by this. */
    void complete(NntiStatus event) {
        state = State.COMPLETE;
        status.set(event);
    }

    /** Gives up to wait for an arrival. */
    void cancelReceive() {
        status.buffer().receives.remove(this);
        status.fail(NntiResult.ECANCELED);
        state = State.COMPLETE;
    }

    void slot(int index) {
        slot = index;
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
}
