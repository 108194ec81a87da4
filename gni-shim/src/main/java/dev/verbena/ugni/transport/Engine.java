package dev.verbena.ugni.transport;

import dev.verbena.agent.internal.KillSteps;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.Ranges;
import dev.verbena.ugni.bindings.ugni;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Turns operations into posts, and events of the source queue into completions. What is longer than
 * one post takes, or not aligned as gets must be, goes piece by piece. Allocates nothing. One
 * thread.
 */
final class Engine {
    /** RDMA takes less than 4 GiB; a multiple of 4. */
    private static final long PIECE_MAX = 1L << 30;

    private static final int WORD = 4;

    private final GniResources resources;
    private final EventRing ring;
    private final WorkPool works;
    private final Connections connections;
    private final long fmaMax;

    /** Header and, for notifications, the whole of a short message; see {@link Notice}. */
    private final UnsafeBuffer header;

    private long fmaCount;
    private long bteCount;
    private long bounceCount;

    Engine(
            GniResources resources,
            EventRing ring,
            WorkPool works,
            Connections connections,
            long fmaMax) {
        this.resources = resources;
        this.ring = ring;
        this.works = works;
        this.connections = connections;
        this.fmaMax = fmaMax;
        this.header = new UnsafeBuffer(resources.scratch, Notice.SCRATCH_AT, Notice.LENGTH);
    }

    GniStatistics statistics() {
        return new GniStatistics(fmaCount, bteCount, bounceCount);
    }

    // ---- transfers ----

    /** Starts an operation whose ranges are known; it ends by an event in any case. */
    void start(Work w, RemoteDescriptor d) {
        w.target(d);
        int right = Ranges.right(w.operation);
        boolean isForeign = d.generation() != w.connection.peer.generation();
        for (int i = 0; i < w.count; i++) {
            int refusal =
                    Ranges.check(
                            d, RemoteDescriptor.KIND_UGNI, right, w.remoteOffsets[i], w.lengths[i]);
            if (refusal == Status.OK && isForeign) {
                refusal = Status.STALE_KEY;
            }
            if (refusal != Status.OK) {
                w.worsen(refusal);
                w.lengths[i] = -1;
            }
        }
        advance(w);
    }

    /** Posts the next piece, or ends the operation. */
    private void advance(Work w) {
        while (w.range < w.count) {
            if (w.isRangeDone()) {
                w.nextRange();
                continue;
            }
            w.beginRange();
            int answer = w.operation == Operation.GET ? postGet(w) : postPut(w);
            if (answer == 0) {
                w.connection.onPosted();
                return;
            }
            w.worsen(statusOfCode(-answer));
            w.nextRange();
        }
        if (w.operation == Operation.PUT_NOTIFY && w.status == Status.OK) {
            notifyPeer(w);
        } else {
            finish(w);
        }
    }

    private int postPut(Work w) {
        w.piece(Math.min(w.left(), PIECE_MAX));
        GniRegion region = w.regions[w.range];
        boolean isShort = w.piece <= fmaMax || w.piece == 0;
        w.descriptor
                .kind(
                        isShort ? ugni.GNI_POST_FMA_PUT : ugni.GNI_POST_RDMA_PUT,
                        ugni.GNI_CQMODE_GLOBAL_EVENT)
                .local(w.localAddress(), region.localLow, region.localHigh)
                .remote(w.remoteAddress(), w.low, w.high)
                .length(w.piece);
        return post(w, isShort);
    }

    private int postGet(Work w) {
        long local = w.localAddress();
        long remote = w.remoteAddress();
        boolean isAligned = ((local | remote) & WORD - 1) == 0;
        if (!isAligned || w.left() < WORD) {
            return postBounced(w, local, remote);
        }
        w.piece(Math.min(w.left() & -WORD, PIECE_MAX));
        GniRegion region = w.regions[w.range];
        return postGet(w, local, region.localLow, region.localHigh, remote, w.piece);
    }

    /**
     * Whole words around the bytes go to a buffer. Where both sides are skewed alike only a few
     * bytes at either end do.
     */
    private int postBounced(Work w, long local, long remote) {
        int skew = (int) remote & WORD - 1;
        long most = Math.min(w.left(), WorkPool.BOUNCE_LENGTH - 2 * WORD);
        boolean isHead = skew == ((int) local & WORD - 1) && w.left() >= 2 * WORD;
        w.bouncedPiece(isHead ? WORD - skew : most, skew);
        bounceCount++;
        long length = skew + w.piece + WORD - 1 & -WORD;
        return postGet(
                w,
                works.bounce(w.bounce),
                works.bounces.low(),
                works.bounces.high(),
                remote - skew,
                length);
    }

    private int postGet(Work w, long local, long low, long high, long remote, long length) {
        boolean isShort = length <= fmaMax;
        w.descriptor
                .kind(
                        isShort ? ugni.GNI_POST_FMA_GET : ugni.GNI_POST_RDMA_GET,
                        ugni.GNI_CQMODE_GLOBAL_EVENT)
                .local(local, low, high)
                .remote(remote, w.low, w.high)
                .length(length);
        return post(w, isShort);
    }

    private int post(Work w, boolean isShort) {
        if (isShort) {
            fmaCount++;
            return ugni.vgn_post_fma(w.connection.endpoint, w.descriptor.address);
        }
        bteCount++;
        return ugni.vgn_post_rdma(w.connection.endpoint, w.descriptor.address);
    }

    /** Starts an atomic; it ends by an event in any case. */
    void startAtomic(Work w, RemoteDescriptor d, long offset, long operand, long update) {
        w.target(d);
        int status =
                Ranges.check(
                        d,
                        RemoteDescriptor.KIND_UGNI,
                        RemoteDescriptor.REMOTE_ATOMIC,
                        offset,
                        Long.BYTES);
        if (status == Status.OK && d.generation() != w.connection.peer.generation()) {
            status = Status.STALE_KEY;
        }
        if (status == Status.OK) {
            boolean isAdd = w.operation == Operation.FETCH_ADD;
            w.descriptor
                    .kind(ugni.GNI_POST_AMO, ugni.GNI_CQMODE_GLOBAL_EVENT)
                    .amo(
                            isAdd ? ugni.GNI_FMA_ATOMIC_FADD : ugni.GNI_FMA_ATOMIC_CSWAP,
                            operand,
                            update)
                    .local(w.result, works.results.low(), works.results.high())
                    .remote(d.base() + offset, w.low, w.high)
                    .length(Long.BYTES);
            int answer = ugni.vgn_post_fma(w.connection.endpoint, w.descriptor.address);
            if (answer == 0) {
                w.connection.onPosted();
                return;
            }
            status = statusOfCode(-answer);
        }
        w.worsen(status);
        finish(w);
    }

    // ---- messages ----

    /** Hands a message to the NIC: false if there is no room for it now. */
    boolean send(Work w, GniConnection c, long from, int length) {
        if (length > Mailboxes.SHORT_MAX) {
            return sendLong(w, c, length);
        }
        header.putInt(0, length);
        header.putInt(Integer.BYTES, c.sentMessages);
        int answer = message(w, c, Mailboxes.HEADER, from, length, Mailboxes.MESSAGE);
        if (answer == -ugni.GNI_RC_NOT_DONE) {
            return false;
        }
        w.value(length);
        if (answer == 0) {
            c.onMessageSent();
            c.onPosted();
            if (KillSteps.ENABLED) {
                KillSteps.step("java.gni.sent");
            }
        } else {
            w.worsen(statusOfCode(-answer));
            finish(w);
        }
        return true;
    }

    /** Puts a message that is too long for a short one behind those; a short one tells of it. */
    private boolean sendLong(Work w, GniConnection c, int length) {
        GniRegion region = w.regions[0];
        w.piece(length);
        w.descriptor
                .kind(ugni.GNI_POST_RDMA_PUT, ugni.GNI_CQMODE_GLOBAL_EVENT)
                .local(w.localAddress(), region.localLow, region.localHigh)
                .remote(
                        c.peerMailbox + Mailboxes.longOffset(c, c.sentMessages),
                        c.peerMailboxLow,
                        c.peerMailboxHigh)
                .length(length);
        if (post(w, false) != 0) {
            return false;
        }
        c.onCreditUsed();
        c.onPosted();
        c.sendingLong(true);
        w.holdCredit();
        takeEvents();
        return true;
    }

    /** The bytes of a long message are there, or it failed. */
    private void onLongMessage(Work w, int status) {
        GniConnection c = w.connection;
        c.sendingLong(false);
        int answer = 0;
        if (status == Status.OK) {
            header.putInt(0, (int) w.piece);
            header.putInt(Integer.BYTES, c.sentMessages);
            answer = message(w, c, Mailboxes.HEADER, 0, 0, Mailboxes.LONG_MESSAGE);
        }
        if (status == Status.OK && answer == 0) {
            w.value(w.piece);
            w.spendCredit();
            c.onNumberUsed();
            c.onPosted();
        } else {
            w.worsen(status == Status.STALE_KEY ? Status.FLUSHED : status);
            w.worsen(answer == 0 ? Status.OK : statusOfCode(-answer));
            finish(w);
        }
    }

    private int message(
            Work w, GniConnection c, int headerLength, long data, int dataLength, int tag) {
        return ugni.vgn_smsg_send(
                c.endpoint,
                header.addressOffset(),
                headerLength,
                dataLength == 0 ? 0 : data,
                dataLength,
                w.index,
                tag);
    }

    /** The bytes of a notifying put are placed: says so. Its credit was reserved. */
    private void notifyPeer(Work w) {
        GniConnection c = w.connection;
        Notice.write(header, w.low, w.high, w.base + w.remoteOffsets[0], w.lengths[0], w.tag);
        int answer = message(w, c, Notice.LENGTH, 0, 0, Mailboxes.NOTIFICATION);
        if (answer == 0) {
            c.onPosted();
            w.spendCredit();
        } else {
            w.worsen(statusOfCode(-answer));
            finish(w);
        }
    }

    // ---- ends ----

    private void finish(Work w) {
        works.releaseBounce(w);
        if (w.hasCredit && w.isConnected()) {
            w.connection.onCreditUnused();
        }
        ring.addCompletion(w);
    }

    /** Takes all events of the source queue; operations with more to move go on. */
    void takeEvents() {
        while (true) {
            int answer = ugni.vgn_cq_get(resources.sourceQueue, resources.at(0));
            if (answer == -ugni.GNI_RC_NOT_DONE || answer == -ugni.GNI_RC_INVALID_STATE) {
                return;
            }
            long entry = resources.scratch.getLong(0);
            int status = answer == 0 ? Status.OK : statusOf(entry);
            if (Gni.type(entry) == Gni.TYPE_SMSG) {
                onMessage(works.at((int) entry), status);
            } else if (ugni.vgn_completed(resources.sourceQueue, entry, resources.at(Long.BYTES))
                    != -ugni.GNI_RC_DESCRIPTOR_ERROR) {
                onTransfer(works.of(resources.scratch.getLong(Long.BYTES)), status);
            }
        }
    }

    private void onMessage(Work w, int status) {
        if (w.isConnected()) {
            w.connection.onPostEnded();
        }
        // A mailbox that is gone belongs to a connection that the peer has ended.
        w.worsen(status == Status.STALE_KEY ? Status.FLUSHED : status);
        w.onMessageEnded();
        finish(w);
        suspect(w, status);
    }

    private void onTransfer(Work w, int status) {
        w.worsen(status);
        if (!w.isConnected()) {
            finish(w);
            return;
        }
        w.connection.onPostEnded();
        if (w.operation == Operation.SEND) {
            onLongMessage(w, status);
        } else if (w.operation == Operation.FETCH_ADD || w.operation == Operation.COMPARE_SWAP) {
            w.value(status == Status.OK ? UnsafeApi.getLong(null, w.result) : 0);
            finish(w);
        } else {
            if (status == Status.OK) {
                w.onPiece();
            } else {
                w.nextRange();
            }
            advance(w);
        }
        suspect(w, status);
    }

    private void suspect(Work w, int status) {
        if (status == Status.PEER_DEAD && w.isConnected()) {
            connections.suspect(w.connection);
        }
    }

    private int statusOf(long entry) {
        return switch ((int) ugni.vgn_cq_field(entry, ugni.VGN_FIELD_STATUS)) {
            case Gni.STATUS_BOUNDS -> Status.BOUNDS;
            case Gni.STATUS_READ_ONLY -> Status.ACCESS;
            case Gni.STATUS_MDD_INVALID, Gni.STATUS_PROTECTION -> Status.STALE_KEY;
            case Gni.STATUS_UNREACHABLE -> Status.PEER_DEAD;
            case Gni.STATUS_BUSY -> Status.TIMED_OUT;
            default -> Status.INTERNAL;
        };
    }

    /** What a post says that was refused. */
    private static int statusOfCode(int code) {
        return switch (code) {
            case ugni.GNI_RC_PERMISSION_ERROR -> Status.ACCESS;
            case ugni.GNI_RC_TRANSACTION_ERROR -> Status.PEER_DEAD;
            default -> Status.INTERNAL;
        };
    }
}
