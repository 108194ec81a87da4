package dev.verbena.ofi.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import java.util.ArrayDeque;
import org.agrona.UnsafeApi;

/**
 * Turns operations into calls of libfabric, and its completions into those of the contract. What is
 * longer than one transfer goes piece by piece. An operation waits for the answer about its key, or
 * until the provider takes it. Allocates nothing. One thread at a time: the owner, or inside {@link
 * ProgressThread} the thread that has borrowed the transport.
 */
final class Engine {
    static final int SHORT_MAX = OfiResources.PACKET - Wire.HEADER;

    private static final long PIECE_MAX = 16L << 20;

    /** Bytes of transfers that a connection has under way: messages do not wait behind more. */
    private static final long WINDOW = 8L << 20;

    /** Operations that are tried again at a time. */
    private static final int LATER_MAX = 64;

    private static final int BATCHES = 16;

    /** Errors of one operation; others say that the way to the peer is broken. */
    private static final int EPERM = 1;

    private static final int EACCES = 13;
    private static final int EINVAL = 22;
    private static final int EMSGSIZE = 90;
    private static final int EOPNOTSUPP = 95;

    private final OfiResources resources;
    private final EventRing ring;
    private final WorkPool works;
    private final Outbox outbox;
    private final Slots slots;
    private final Controls controls;
    private final FabricPosts posts;
    private final long pieceMax;
    private final ArrayDeque<Work> waiting;
    private final ArrayDeque<Work> later;
    private Arrivals arrivals;
    private boolean isDraining;
    private long eventCount;

    /** Gets what has arrived, and learns of breaks. */
    interface Arrivals {
        /** A slot was filled with so many bytes. */
        void onArrived(int slot, long length);

        /** The way to this connection's peer is broken. */
        void onBroken(OfiConnection c, int code);

        /** The provider has no operation any more with this key, which its owner took back. */
        void onQuiet(OfiConnection c, long key);

        /** After a round of completions. */
        void afterRound();
    }

    Engine(
            OfiResources resources,
            EventRing ring,
            WorkPool works,
            Outbox outbox,
            Slots slots,
            Controls controls) {
        this.resources = resources;
        this.ring = ring;
        this.works = works;
        this.outbox = outbox;
        this.slots = slots;
        this.controls = controls;
        this.posts = new FabricPosts(resources);
        this.pieceMax = Math.min(PIECE_MAX, resources.info.messageMax());
        this.waiting = new ArrayDeque<>(resources.workCount + 1);
        this.later = new ArrayDeque<>(resources.workCount + 1);
    }

    void arrivals(Arrivals arrivals) {
        this.arrivals = arrivals;
    }

    // ---- transfers and atomics ----

    /** Starts a transfer; it ends by an event in any case. */
    void start(Work w, RemoteDescriptor d) {
        OfiConnection c = w.connection;
        int right = Ranges.right(w.operation);
        boolean isForeign = d.keyHigh() != c.peerIncarnation;
        for (int i = 0; i < w.count; i++) {
            int refusal =
                    Ranges.check(
                            d, RemoteDescriptor.KIND_OFI, right, w.remoteOffsets[i], w.lengths[i]);
            if (refusal == Status.OK && isForeign) {
                refusal = Status.STALE_KEY;
            }
            if (refusal != Status.OK) {
                w.worsen(refusal);
                w.lengths[i] = -1;
            }
        }
        w.target(d);
        startWithKey(w, d.keyLow(), w.status != Status.OK && w.count == 1);
    }

    /** Starts an atomic; it ends by an event in any case. */
    void startAtomic(Work w, RemoteDescriptor d, long offset, long operand, long update) {
        int status =
                Ranges.check(
                        d,
                        RemoteDescriptor.KIND_OFI,
                        RemoteDescriptor.REMOTE_ATOMIC,
                        offset,
                        Long.BYTES);
        if (status == Status.OK && d.keyHigh() != w.connection.peerIncarnation) {
            status = Status.STALE_KEY;
        }
        w.worsen(status);
        w.atomic(d, offset, operand, update);
        startWithKey(w, d.keyLow(), status != Status.OK);
    }

    private void startWithKey(Work w, long number, boolean isRefused) {
        if (isRefused) {
            finish(w);
            return;
        }
        OfiConnection c = w.connection;
        RemoteKey key = c.key(number);
        if (key == null) {
            key = c.newKey(number);
            outbox.begin(c, Wire.ASK_KEY, 0, 0);
            Wire.place(resources.scratch, OfiResources.RECORD_AT, number, 0, 0, 0);
            if (!outbox.send(c, Wire.SHORT, true)) {
                c.forgetKey(number);
                w.worsen(Status.INTERNAL);
                finish(w);
                return;
            }
        }
        w.key(key);
        if (key.isKnown()) {
            advance(w);
        } else {
            waiting.add(w);
        }
    }

    /** The answer about a key has come: what waited for it goes on. */
    void onKey(RemoteKey key) {
        for (int left = waiting.size(); left > 0; left--) {
            Work w = waiting.poll();
            if (w.key == key) {
                advance(w);
            } else {
                waiting.add(w);
            }
        }
    }

    private void advance(Work w) {
        int answer = isAtomic(w) ? postAtomic(w) : postNext(w);
        if (answer == -fabric.VFI_EAGAIN) {
            later.add(w);
        }
    }

    private static boolean isAtomic(Work w) {
        return w.operation == Operation.FETCH_ADD || w.operation == Operation.COMPARE_SWAP;
    }

    /** Posts the next piece, or ends the operation; answers EAGAIN if it must be tried again. */
    private int postNext(Work w) {
        int right = Ranges.right(w.operation);
        while (w.range < w.count) {
            if (w.lengths[w.range] <= w.done) {
                w.nextRange();
                continue;
            }
            int refusal = w.key.check(w.remoteAddress(), right, w.left());
            if (refusal != Status.OK) {
                w.worsen(refusal);
                w.nextRange();
                continue;
            }
            long piece = Math.min(w.left(), pieceMax);
            int answer =
                    w.connection.hasRoom(piece, WINDOW)
                            ? posts.piece(w, piece)
                            : -fabric.VFI_EAGAIN;
            if (answer == 0) {
                w.posted(piece);
                w.connection.onMoving(piece);
                return 0;
            }
            if (answer == -fabric.VFI_EAGAIN) {
                return answer;
            }
            w.worsen(statusOf(w, -answer));
            w.nextRange();
        }
        if (w.operation == Operation.PUT_NOTIFY && w.status == Status.OK && !isNotified(w)) {
            return -fabric.VFI_EAGAIN;
        }
        finish(w);
        return 0;
    }

    private int postAtomic(Work w) {
        int refusal = w.key.check(w.base, RemoteDescriptor.REMOTE_ATOMIC, Long.BYTES);
        int answer = refusal == Status.OK ? posts.atomic(w) : 0;
        if (refusal == Status.OK && answer == 0) {
            w.posted(Long.BYTES);
        } else if (answer != -fabric.VFI_EAGAIN) {
            w.worsen(refusal != Status.OK ? refusal : statusOf(w, -answer));
            finish(w);
        }
        return answer;
    }

    /**
     * The bytes of a notifying put are placed: says so, and it ends; nothing is to overtake that.
     */
    private boolean isNotified(Work w) {
        OfiConnection c = w.connection;
        outbox.begin(c, Wire.NOTIFY, w.tag, 0);
        Wire.place(
                resources.scratch,
                OfiResources.RECORD_AT,
                w.key == null ? 0 : w.key.key,
                w.base + w.remoteOffsets[0],
                w.value,
                0);
        boolean isSent = outbox.send(c, Wire.SHORT, false);
        if (isSent) {
            w.spendCredit();
        }
        return isSent;
    }

    // ---- messages ----

    /** Hands a message to the provider: false if it takes none now. */
    boolean send(Work w, OfiConnection c, long from, int length, long descriptor) {
        int answer = posts.message(w, c, from, length, descriptor);
        if (answer == -fabric.VFI_EAGAIN) {
            return false;
        }
        if (answer >= 0) {
            c.onSent();
            w.value(length);
            w.posted(length);
        } else {
            w.worsen(statusOf(w, -answer));
            finish(w);
        }
        return true;
    }

    // ---- ends ----

    private void finish(Work w) {
        OfiConnection c = w.connection;
        w.ended();
        if (c.handle == w.handle) {
            c.onPostEnded();
            if (w.hasCredit) {
                c.onCreditUnused();
            }
        }
        ring.addCompletion(w);
    }

    /** Ends all operations of a connection, also those that the provider holds. */
    void failAll(OfiConnection c, int status) {
        for (int i = 0; i < works.size() && c.inFlight() > 0; i++) {
            Work w = works.at(i);
            if (w.isOpen() && w.connection == c && w.handle == c.handle) {
                fail(w, status);
            }
        }
    }

    /** Ends those operations of a connection that the provider does not hold. */
    void flush(OfiConnection c) {
        for (int i = 0; i < works.size() && c.inFlight() > 0; i++) {
            Work w = works.at(i);
            if (w.isOpen() && w.connection == c && w.handle == c.handle && !w.isPosted()) {
                fail(w, Status.FLUSHED);
            }
        }
    }

    private void fail(Work w, int status) {
        if (!w.isPosted()) {
            waiting.remove(w);
            later.remove(w);
        }
        w.worsen(status);
        if (w.operation == Operation.SEND || isAtomic(w)) {
            w.value(0);
        }
        finish(w);
    }

    // ---- completions ----

    /** Takes all completions; does nothing inside itself. */
    void takeEvents() {
        takeEvents(1);
    }

    /**
     * Takes those that the queue has. A read that leaves room has emptied the queue, and another
     * one would ask the provider again, which costs a system call before anything is delivered.
     */
    void takePresentEvents() {
        takeEvents(OfiResources.ENTRIES);
    }

    /**
     * Does nothing inside itself.
     *
     * @param again another read follows one of so many completions
     */
    private void takeEvents(int again) {
        if (isDraining) {
            return;
        }
        isDraining = true;
        try {
            if (!outbox.isEmpty()) {
                outbox.flush();
            }
            slots.postAll();
            tryLater();
            for (int i = 0; i < BATCHES && takeBatch() >= again; i++) {
                // as many reads as it takes
            }
        } finally {
            isDraining = false;
        }
        arrivals.afterRound();
    }

    private void tryLater() {
        OfiConnection stuck = null;
        for (int left = Math.min(later.size(), LATER_MAX); left > 0; left--) {
            Work w = later.poll();
            int before = later.size();
            if (w.connection == stuck) {
                later.add(w);
                continue;
            }
            advance(w);
            if (later.size() != before) {
                stuck = w.connection;
            }
        }
    }

    /** Answers how many; as many as there is room for if it cannot be the last. */
    private int takeBatch() {
        long entries = resources.scratch.addressOffset();
        int count = resources.calls.events(entries, OfiResources.ENTRIES);
        if (count == -fabric.VFI_EAVAIL) {
            return takeError() ? OfiResources.ENTRIES : 0;
        }
        for (int i = 0; i < count; i++) {
            long at = entries + (long) i * fabric.VFI_CQ_BYTES;
            onEvent(
                    UnsafeApi.getLong(null, at + fabric.VFI_CQ_CONTEXT),
                    UnsafeApi.getLong(null, at + fabric.VFI_CQ_LENGTH),
                    0);
        }
        eventCount += Math.max(0, count);
        return count;
    }

    /** Completions so far. */
    long eventCount() {
        return eventCount;
    }

    /** Nothing waits until the provider takes it. */
    boolean isQuiet() {
        return later.isEmpty() && outbox.isEmpty();
    }

    private boolean takeError() {
        int at = OfiResources.ERROR_AT;
        long address = resources.scratch.addressOffset() + at;
        if (resources.calls.error(address) <= 0) {
            return false;
        }
        int code = (int) resources.scratch.getLong(at + fabric.VFI_ERROR_CODE);
        onEvent(
                resources.scratch.getLong(at + fabric.VFI_CQ_CONTEXT),
                resources.scratch.getLong(at + fabric.VFI_CQ_LENGTH),
                code == 0 ? EINVAL : code);
        return true;
    }

    private void onEvent(long context, long length, int code) {
        int slot = resources.slotOf(context);
        if (slot >= 0) {
            if (code == 0) {
                arrivals.onArrived(slot, length);
            } else {
                slots.post(slot);
            }
            return;
        }
        int work = resources.workOf(context);
        int control = resources.controlOf(context);
        if (work >= 0) {
            onWork(works.at(work), code);
        } else if (control >= 0) {
            controls.ended(control);
        }
    }

    private void onWork(Work w, int code) {
        if (!w.isPosted()) {
            return; // of nothing that we know
        }
        OfiConnection c = w.connection;
        boolean isThere = c.handle == w.handle && c.state != OfiConnection.FREE;
        RemoteKey key = isThere ? w.key : null;
        if (w.isEnded()) {
            w.abandonedEnded();
        } else {
            onPosted(w, code);
        }
        if (key != null && key.takeAnswer()) {
            arrivals.onQuiet(c, key.key);
        }
    }

    /** The provider has ended what was posted. */
    private void onPosted(Work w, int code) {
        w.unposted();
        if (w.count > 0 && w.operation != Operation.SEND && w.connection.handle == w.handle) {
            w.connection.onMoving(-w.piece);
        }
        if (code != 0) {
            onFailed(w, code);
            return;
        }
        if (w.key != null && w.key.isDead()) {
            w.worsen(Status.STALE_KEY);
        }
        if (w.operation == Operation.SEND) {
            finish(w);
        } else if (isAtomic(w)) {
            w.value(w.status == Status.OK ? w.packet.getLong(Work.RESULT) : 0);
            finish(w);
        } else {
            w.onPiece();
            advance(w);
        }
    }

    private void onFailed(Work w, int code) {
        OfiConnection c = w.connection;
        int status = statusOf(w, code);
        w.worsen(status);
        if (w.operation == Operation.SEND) {
            w.value(0);
        }
        finish(w);
        if (status == Status.PEER_DEAD && c.handle == w.handle) {
            arrivals.onBroken(c, code);
        }
    }

    private static int statusOf(Work w, int code) {
        if (w.key != null && w.key.isDead()) {
            return Status.STALE_KEY;
        }
        return switch (code) {
            case EPERM, EACCES -> Status.ACCESS;
            case EINVAL, EMSGSIZE, EOPNOTSUPP -> Status.INTERNAL;
            default -> Status.PEER_DEAD;
        };
    }
}
