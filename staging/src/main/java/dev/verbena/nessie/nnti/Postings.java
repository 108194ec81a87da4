package dev.verbena.nessie.nnti;

import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Capability;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import org.agrona.collections.IntArrayList;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Posts operations part by part, in the order of their issue where the transport refuses some, and
 * finds the work request of a completion. Allocates nothing once its queue has grown.
 */
final class Postings implements AutoCloseable {
    private static final long REQUEST_CONTEXTS = 1L << 32;

    private final Transport transport;
    private final RecordOutbox outbox;
    final UnsafeBuffer messages;
    private final WorkRequest[] sends;
    private final WorkRequest[] requests;
    private final IntArrayList free = new IntArrayList();
    private final int slotLength;
    private final boolean canNotify;
    private final boolean hasTargetEvents;

    /** Those with requests that wait, each once: one that takes nothing holds up nobody else. */
    private final ArrayDeque<NntiPeer> peers = new ArrayDeque<>();

    private boolean isClosed;

    Postings(Transport transport, NntiOptions options) {
        int sendSlots = options.sendSlotCount();
        this.transport = transport;
        this.hasTargetEvents = options.hasTargetEvents();
        this.slotLength = (transport.limits().messageLengthMax() + 7) & ~7;
        this.outbox = new RecordOutbox(transport, sendSlots, slotLength, 0);
        this.messages = outbox.buffer();
        this.sends = new WorkRequest[sendSlots];
        this.requests = new WorkRequest[transport.limits().outstandingMax()];
        for (int i = requests.length - 1; i >= 0; i--) {
            free.addInt(i);
        }
        canNotify = (transport.capabilities() & Capability.PUT_NOTIFY) != 0;
    }

    // ---- messages without a work request

    /** Where the next message is to be written in {@link #messages}; -1: not now. */
    int claim() {
        return outbox.next();
    }

    /** Sends what was written at {@link #claim}. */
    NntiResult commit(NntiPeer peer, int length) {
        return NntiResult.ofAnswer(outbox.send(peer.connection, length));
    }

    // ---- operations

    /** Starts to send, put or get, if nothing is wrong; that is the result. */
    NntiResult move(
            NntiOperation operation,
            NntiPeer peer,
            NntiBuffer local,
            long offset,
            long length,
            BufferHandle remote,
            long at,
            WorkRequest given) {
        if (peer.state() != NntiPeer.State.READY) {
            return isClosed ? NntiResult.ENOTINIT : NntiResult.EIO;
        }
        NntiResult wrong = local.check(operation.localFlag, offset, length);
        boolean isMessage =
                operation == NntiOperation.SEND && (remote == null || remote.isAbsent());
        if (wrong == NntiResult.OK && !isMessage) {
            boolean isNoPlace = operation == NntiOperation.SEND && remote.isJoined();
            wrong = isNoPlace ? NntiResult.EINVAL : remote.check(operation.remoteFlag, at, length);
        }
        if (wrong == NntiResult.OK) {
            WorkRequest request = given == null ? local.pooled() : given;
            request.begin(operation, local, offset, length, peer);
            request.target(remote, at, hasTargetEvents);
            start(request);
        }
        return wrong;
    }

    /** Starts to change 8 bytes of the peer, if nothing is wrong. */
    NntiResult atomic(
            NntiOperation kind, NntiPeer peer, BufferHandle target, long at, WorkRequest request) {
        if (peer.state() != NntiPeer.State.READY) {
            return NntiResult.EIO;
        }
        boolean isPossible = (transport.capabilities() & Capability.ATOMICS) != 0;
        NntiResult wrong = isPossible ? target.checkAtomic(at) : NntiResult.ENOTSUP;
        if (wrong == NntiResult.OK) {
            request.begin(kind, null, 0, Long.BYTES, peer);
            request.target(target, at, true);
            start(request);
        }
        return wrong;
    }

    private void start(WorkRequest request) {
        request.issue();
        postOrWait(request);
    }

    private void postOrWait(WorkRequest request) {
        NntiPeer peer = request.status().peer();
        if (!peer.waiting.isEmpty() || !post(request)) {
            peer.waiting.add(request);
            if (!peers.contains(peer)) {
                peers.add(peer);
            }
        }
    }

    /** Posts what waits; work done. */
    int doWork() {
        int work = 0;
        for (int i = peers.size(); i > 0; i--) {
            NntiPeer peer = peers.remove();
            WorkRequest first;
            while ((first = peer.waiting.peek()) != null && post(first)) {
                peer.waiting.remove();
                work++;
            }
            if (first != null) {
                peers.add(peer);
            }
        }
        return work;
    }

    /** True: nothing of it waits any more; false: later. */
    private boolean post(WorkRequest request) {
        if (request.isNotifying) {
            return postNotice(request);
        }
        if (request.isMessage()) {
            return postMessage(request);
        }
        if (request.slot < 0 && !takeSlot(request)) {
            return false;
        }
        boolean isDone = request.post(transport, REQUEST_CONTEXTS + request.slot, canNotify);
        if (isDone && request.outstanding == 0) {
            moved(request);
        }
        return isDone;
    }

    private boolean takeSlot(WorkRequest request) {
        if (free.isEmpty()) {
            return false;
        }
        int slot = free.popInt();
        requests[slot] = request;
        request.slot(slot);
        return true;
    }

    private void freeSlot(WorkRequest request) {
        free.pushInt(request.slot);
        requests[request.slot] = null;
        request.slot(-1);
    }

    private boolean postMessage(WorkRequest request) {
        int at = outbox.next();
        if (at < 0 || !takeSlot(request)) {
            return false;
        }
        Messages.begin(messages, at, Messages.DATA, request.slot + 1);
        int end = at + Messages.DATA_OFFSET;
        for (UnsafeBuffer window : request.status().buffer().windows) {
            messages.putBytes(end, window, 0, window.capacity());
            end += window.capacity();
        }
        NntiResult result = commit(request.status().peer(), end - at);
        if (result == NntiResult.OK) {
            sends[at / slotLength] = request;
            request.partPosted(Transport.ACCEPTED, request.status().length());
            return true;
        }
        freeSlot(request);
        return request.end(result);
    }

    private void moved(WorkRequest request) {
        freeSlot(request);
        if (request.needsNotice()) {
            postOrWait(request);
        } else {
            request.complete();
        }
    }

    private boolean postNotice(WorkRequest request) {
        int at = outbox.next();
        if (at < 0) {
            return false;
        }
        NntiStatus status = request.status();
        boolean isAtomic = status.operation().isAtomic();
        int operation = isAtomic ? Messages.ATOMIC : status.operation().ordinal();
        long variable = request.remoteOffset / Long.BYTES;
        int id = isAtomic ? (int) variable : request.remote.bufferId();
        Messages.notice(messages, at, operation, id, request.remoteOffset, status.length());
        return request.end(commit(status.peer(), Messages.NOTICE_LENGTH));
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
            NntiPeer peer = request.status().peer();
            boolean hasFailed = request.status().result() != NntiResult.OK;
            boolean isLast = request.isPosted() || hasFailed && !peer.waiting.contains(request);
            if (request.outstanding == 0 && isLast) {
                moved(request);
            }
        }
    }

    /** A message has left and the peer has answered, or neither can happen any more. */
    private void messageEnded(WorkRequest request) {
        NntiStatus status = request.status();
        if (request.outstanding > 0) {
            return;
        }
        if (!request.isAnswered && status.peer().state() == NntiPeer.State.CLOSED) {
            request.status().fail(NntiResult.EIO);
        }
        if (request.isAnswered || status.result() != NntiResult.OK) {
            freeSlot(request);
            request.complete();
        }
    }

    /** A peer says whether it takes a message; false: it was not asked. */
    boolean onAnswer(NntiPeer peer, int number, NntiResult result) {
        WorkRequest request = number < 1 || number > requests.length ? null : requests[number - 1];
        boolean isAwaited =
                request != null
                        && request.isMessage()
                        && request.status().peer() == peer
                        && !request.isAnswered
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
            if (request != null && request.status().peer() == peer && request.isMessage()) {
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

    /** Gives an operation up that has not begun; false: it has begun, or has ended. */
    boolean cancel(WorkRequest request) {
        boolean isPending = request.state() == WorkRequest.State.PENDING;
        if (isPending && request.status().operation() == NntiOperation.RECEIVE) {
            request.cancelReceive();
            return true;
        }
        NntiPeer peer = request.status().peer();
        boolean isGivenUp = isPending && request.hasNotBegun() && peer.waiting.remove(request);
        if (isGivenUp) {
            if (request.slot >= 0) {
                freeSlot(request);
            }
            request.end(NntiResult.ECANCELED);
        }
        return isGivenUp;
    }

    /** Nothing is outstanding. */
    boolean isIdle() {
        return outbox.isIdle() && free.size() == requests.length;
    }

    @Override
    public void close() {
        isClosed = true;
        outbox.close();
    }
}
