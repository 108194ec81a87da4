package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Posts operations part by part, in the order of their issue where the transport refuses some, and
 * finds the work request of a completion. Allocates nothing once its queue has grown.
 */
final class Postings implements AutoCloseable {
    /** Tag of a notification: the bytes were put. */
    static final int TAG_PUT = 1;

    /** Tag of a notification: the bytes were sent to this buffer. */
    static final int TAG_SEND = 2;

    private static final long REQUEST_CONTEXTS = 1L << 32;

    private final Transport transport;
    private final RecordOutbox outbox;
    private final UnsafeBuffer messages;
    private final WorkRequest[] sends;
    private final WorkRequest[] requests;
    private final int[] free;
    private final int slotLength;
    private final boolean canNotify;
    private final ArrayDeque<WorkRequest> waiting = new ArrayDeque<>();
    private int freeCount;

    Postings(Transport transport, int sendSlots) {
        this.transport = transport;
        this.slotLength = (transport.limits().messageLengthMax() + 7) & ~7;
        this.outbox = new RecordOutbox(transport, sendSlots, slotLength, 0);
        this.messages = outbox.buffer();
        this.sends = new WorkRequest[sendSlots];
        this.requests = new WorkRequest[transport.limits().outstandingMax()];
        this.free = new int[requests.length];
        for (int i = 0; i < free.length; i++) {
            free[i] = free.length - 1 - i;
        }
        freeCount = free.length;
        canNotify = (transport.capabilities() & Capability.PUT_NOTIFY) != 0;
    }

    // ---- messages without a work request

    /** Where the next message is to be written in {@link #messages}; -1: not now. */
    int claim() {
        return outbox.next();
    }

    MutableDirectBuffer messages() {
        return messages;
    }

    /** Sends what was written at {@link #claim}. */
    NntiResult commit(NntiPeer peer, int length) {
        return ofAnswer(outbox.send(peer.connection(), length));
    }

    static NntiResult ofAnswer(int answer) {
        return switch (answer) {
            case Transport.ACCEPTED -> NntiResult.OK;
            case Transport.BACK_PRESSURED -> NntiResult.EAGAIN;
            case Transport.TOO_LONG -> NntiResult.EMSGSIZE;
            case Transport.NOT_SUPPORTED -> NntiResult.ENOTSUP;
            default -> NntiResult.EIO;
        };
    }

    // ---- operations

    void start(WorkRequest request) {
        request.buffer().issued(request);
        startOnly(request);
    }

    /** For atomic operations, which have no buffer. */
    void startOnly(WorkRequest request) {
        if (!waiting.isEmpty() || !post(request)) {
            waiting.add(request);
        }
    }

    /** Posts what waits; work done. */
    int doWork() {
        int work = 0;
        WorkRequest first;
        while ((first = waiting.peek()) != null && post(first)) {
            waiting.remove();
            work++;
        }
        return work;
    }

    /** True: nothing of it waits any more; false: later. */
    private boolean post(WorkRequest request) {
        if (request.phase() == WorkRequest.Phase.NOTIFYING) {
            return postNotice(request);
        }
        if (isMessage(request)) {
            return postMessage(request);
        }
        if (request.slot() < 0) {
            if (freeCount == 0) {
                return false;
            }
            takeSlot(request);
        }
        boolean isDone = postParts(request);
        if (isDone && request.outstanding() == 0) {
            moved(request);
        }
        return isDone;
    }

    private void takeSlot(WorkRequest request) {
        int slot = free[--freeCount];
        requests[slot] = request;
        request.slot(slot);
    }

    private void freeSlot(WorkRequest request) {
        free[freeCount++] = request.slot();
        requests[request.slot()] = null;
        request.slot(-1);
    }

    private static boolean isMessage(WorkRequest request) {
        return request.operation() == NntiOperation.SEND && request.remote().isAbsent();
    }

    private boolean postMessage(WorkRequest request) {
        int at = outbox.next();
        if (at < 0 || freeCount == 0) {
            return false;
        }
        int length = (int) request.length();
        Messages.begin(messages, at, Messages.DATA, free[freeCount - 1] + 1);
        copy(request.buffer(), at + Messages.DATA_OFFSET, length);
        NntiResult result = commit(request.peer(), length + Messages.DATA_OFFSET);
        if (result == NntiResult.OK) {
            takeSlot(request);
            sends[at / slotLength] = request;
            request.partPosted(length);
        } else if (result != NntiResult.EAGAIN) {
            request.fail(result);
            complete(request);
        }
        return result != NntiResult.EAGAIN;
    }

    private void copy(NntiBuffer from, int at, int length) {
        int copied = 0;
        for (RegisteredRegion region : from.regions()) {
            int part = (int) Math.min(region.length(), length - copied);
            messages.putBytes(at + copied, part(from, region, part), 0, part);
            copied += part;
        }
    }

    private static UnsafeBuffer part(NntiBuffer from, RegisteredRegion region, int length) {
        return region == from.regions()[0] ? from.window() : region.buffer(0, length);
    }

    private boolean postParts(WorkRequest request) {
        boolean isFirst = request.posted() == 0 && request.outstanding() == 0;
        while (request.worst() == NntiResult.OK
                && (request.posted() < request.length() || isFirst)) {
            isFirst = false;
            int answer = isAtomic(request) ? postAtomic(request) : postPart(request);
            if (answer == Transport.BACK_PRESSURED) {
                return false;
            }
            if (answer != Transport.ACCEPTED) {
                request.fail(ofAnswer(answer));
            }
        }
        return true;
    }

    private static boolean isAtomic(WorkRequest request) {
        return request.operation() == NntiOperation.FETCH_ADD
                || request.operation() == NntiOperation.COMPARE_SWAP;
    }

    private int postAtomic(WorkRequest request) {
        NntiPeer peer = request.peer();
        long context = REQUEST_CONTEXTS + request.slot();
        int answer =
                request.operation() == NntiOperation.FETCH_ADD
                        ? transport.fetchAdd(
                                peer.connection(),
                                peer.variables(),
                                request.remoteOffset(),
                                request.firstOperand(),
                                context,
                                0)
                        : transport.compareSwap(
                                peer.connection(),
                                peer.variables(),
                                request.remoteOffset(),
                                request.firstOperand(),
                                request.secondOperand(),
                                context,
                                0);
        if (answer == Transport.ACCEPTED) {
            request.partPosted(request.length());
        }
        return answer;
    }

    private int postPart(WorkRequest request) {
        long local = request.offset() + request.posted();
        NntiBuffer buffer = request.buffer();
        int segment = buffer.segmentOf(local);
        RegisteredRegion region = buffer.regions()[segment];
        long localOffset = local - buffer.startOf(segment);
        long target = request.remoteOffset() + request.posted();
        int index = 0;
        while (index < request.remote().segmentCount() - 1
                && target >= request.remote().segment(index).length()) {
            target -= request.remote().segment(index++).length();
        }
        RemoteDescriptor descriptor = request.remote().segment(index);
        long length = request.length() - request.posted();
        length = Math.min(length, region.length() - localOffset);
        length = Math.min(length, descriptor.length() - target);
        int answer = postPart(request, region, localOffset, descriptor, target, length);
        if (answer == Transport.ACCEPTED) {
            request.partPosted(length);
        }
        return answer;
    }

    private int postPart(
            WorkRequest request,
            RegisteredRegion region,
            long offset,
            RemoteDescriptor descriptor,
            long target,
            long length) {
        long connection = request.peer().connection();
        long context = REQUEST_CONTEXTS + request.slot();
        if (request.operation() == NntiOperation.GET) {
            return transport.get(
                    connection, region, offset, descriptor, target, length, context, 0);
        }
        boolean isWhole = length == request.length() && request.remote().segmentCount() == 1;
        if (!request.isNotifying() || !isWhole || !canNotify) {
            return transport.put(
                    connection, region, offset, descriptor, target, length, context, 0);
        }
        int tag = request.operation() == NntiOperation.SEND ? TAG_SEND : TAG_PUT;
        return transport.putNotify(
                connection, region, offset, descriptor, target, length, tag, context, 0);
    }

    /** Whether the target learns by a message what was done, not by the operation itself. */
    private boolean needsNotice(WorkRequest request) {
        if (!request.isNotifying() || request.worst() != NntiResult.OK) {
            return false;
        }
        boolean isPut =
                request.operation() == NntiOperation.PUT
                        || request.operation() == NntiOperation.SEND;
        boolean wasOnePart =
                request.remote().segmentCount() == 1
                        && (request.length() == 0
                                || request.buffer().segmentOf(request.offset())
                                        == request.buffer()
                                                .segmentOf(
                                                        request.offset() + request.length() - 1));
        return !(isPut && wasOnePart && canNotify);
    }

    private void moved(WorkRequest request) {
        freeSlot(request);
        if (needsNotice(request)) {
            request.notifying();
            if (!waiting.isEmpty() || !postNotice(request)) {
                waiting.add(request);
            }
        } else {
            complete(request);
        }
    }

    private boolean postNotice(WorkRequest request) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        int operation = isAtomic(request) ? Messages.ATOMIC : request.operation().ordinal();
        int id =
                isAtomic(request)
                        ? (int) (request.remoteOffset() / Long.BYTES)
                        : request.remote().bufferId();
        Messages.notice(messages, at, operation, id, request.remoteOffset(), request.length());
        NntiResult result = commit(request.peer(), Messages.NOTICE_LENGTH);
        if (result == NntiResult.EAGAIN) {
            return false;
        }
        request.fail(result);
        complete(request);
        return true;
    }

    private static void complete(WorkRequest request) {
        request.complete(request.offset(), isAtomic(request) ? request.value() : request.length());
        if (request.buffer() != null) {
            request.buffer().ended(request.status());
        }
    }

    /** An operation of the transport has completed. */
    void onCompletion(long context, int status, long value) {
        if (outbox.onCompletion(context)) {
            WorkRequest send = sends[(int) context];
            sends[(int) context] = null;
            if (send != null) {
                send.partEnded(NntiResult.ofStatus(status), value);
                messageEnded(send);
            }
            return;
        }
        long slot = context - REQUEST_CONTEXTS;
        WorkRequest request = slot < 0 || slot >= requests.length ? null : requests[(int) slot];
        if (request != null) {
            request.partEnded(NntiResult.ofStatus(status), value);
            boolean isPosted =
                    request.posted() == request.length()
                            || request.worst() != NntiResult.OK && !waiting.contains(request);
            if (request.outstanding() == 0 && isPosted) {
                moved(request);
            }
        }
    }

    /** A message has left and the peer has answered, or neither can happen any more. */
    private void messageEnded(WorkRequest request) {
        if (request.outstanding() > 0) {
            return;
        }
        if (!request.isAnswered()) {
            if (request.peer().state() == NntiPeer.State.CLOSED) {
                request.fail(NntiResult.EIO);
            }
            if (request.worst() == NntiResult.OK) {
                return;
            }
        }
        freeSlot(request);
        complete(request);
    }

    /** A peer says whether it takes a message; false: it was not asked. */
    boolean onAnswer(NntiPeer peer, int number, NntiResult result) {
        WorkRequest request = number < 1 || number > requests.length ? null : requests[number - 1];
        boolean isAwaited =
                request != null
                        && isMessage(request)
                        && request.peer() == peer
                        && !request.isAnswered()
                        && result != null;
        if (isAwaited) {
            request.answered(result);
            messageEnded(request);
        }
        return isAwaited;
    }

    /** Nothing is answered there any more. */
    void onPeerClosed(NntiPeer peer) {
        for (WorkRequest request : requests) {
            if (request != null && request.peer() == peer && isMessage(request)) {
                messageEnded(request);
            }
        }
    }

    /** Tells a peer whether its message is taken; false: not now. */
    boolean answer(NntiPeer peer, int number, NntiResult result) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        Messages.answer(messages, at, number, result);
        return commit(peer, Messages.ANSWER_LENGTH) != NntiResult.EAGAIN;
    }

    /** Takes an operation that has not begun out of the queue; false: it has begun. */
    boolean cancel(WorkRequest request) {
        boolean hasNotBegun =
                request.posted() == 0
                        && request.outstanding() == 0
                        && request.phase() == WorkRequest.Phase.MOVING;
        if (hasNotBegun && waiting.remove(request)) {
            if (request.slot() >= 0) {
                freeSlot(request);
            }
            request.fail(NntiResult.ECANCELED);
            complete(request);
            return true;
        }
        return false;
    }

    /** Nothing is outstanding. */
    boolean isIdle() {
        return outbox.isIdle() && freeCount == free.length;
    }

    @Override
    public void close() {
        outbox.close();
    }
}
