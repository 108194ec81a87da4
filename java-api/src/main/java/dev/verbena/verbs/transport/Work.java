package dev.verbena.verbs.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.SendRequestFlyweight;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One accepted operation, from its acceptance until its completion was delivered. Used again and
 * again. It is posted in one request or several; requests of a queue pair complete in their order.
 */
final class Work {
    /** Bytes of scratch memory of one work. */
    static final int SCRATCH = 64;

    /** Length of what a notification carries: address, length, key, nothing. */
    static final int RECORD = 24;

    private static final int RECORD_AT = 8;
    static final int RECORD_LENGTH = 8;
    static final int RECORD_KEY = 16;

    final int index;
    private final MemoryRegion scratch;
    private final UnsafeBuffer bytes;
    private final int scratchAt;

    long handle;
    int operation;
    long context;
    int status;
    long value;

    /** The one that the connection accepted after it. */
    Work next;

    /** Requests that were posted and did not complete. */
    private int outstanding;

    /** Every request of it was posted. */
    boolean isPosted;

    /** A request of it was posted, ever. */
    boolean isStarted;

    private boolean isFenced;
    private int key;
    private long operand;
    private long update;
    private int tag;
    private int count;
    private VerbsRegion[] regions = new VerbsRegion[1];
    private long[] offsets = new long[1];
    private long[] targets = new long[1];
    private long[] lengths = new long[1];
    private int piece;
    private long done;
    private int completed;

    Work(int index, MemoryRegion scratch, UnsafeBuffer bytes, int scratchAt) {
        this.index = index;
        this.scratch = scratch;
        this.bytes = bytes;
        this.scratchAt = scratchAt;
    }

    Work begin(VerbsConnection connection, int operation, long context, boolean isFenced) {
        this.handle = connection.handle;
        this.operation = operation;
        this.context = context;
        this.isFenced = isFenced;
        status = Status.OK;
        value = 0;
        next = null;
        count = 0;
        outstanding = 0;
        isStarted = false;
        restart();
        return this;
    }

    /** What was posted was not carried out: from the beginning. */
    void restart() {
        piece = 0;
        done = 0;
        completed = 0;
        outstanding = 0;
        isPosted = false;
    }

    Work remote(int key, int tag) {
        this.key = key;
        this.tag = tag;
        return this;
    }

    Work operands(long operand, long update) {
        this.operand = operand;
        this.update = update;
        return this;
    }

    /** Appends a piece; the region is in use until {@link #release}. */
    void add(VerbsRegion region, long offset, long target, long length) {
        if (count == lengths.length) {
            regions = Arrays.copyOf(regions, 2 * count);
            offsets = Arrays.copyOf(offsets, 2 * count);
            targets = Arrays.copyOf(targets, 2 * count);
            lengths = Arrays.copyOf(lengths, 2 * count);
        }
        regions[count] = region;
        offsets[count] = offset;
        targets[count] = target;
        lengths[count] = length;
        count++;
        if (region != null) {
            region.use();
        }
    }

    /** What it says when everything went well. */
    void expect(long bytes) {
        value = bytes;
    }

    /** Its completion is delivered: regions may be closed. */
    void release() {
        for (int i = 0; i < count; i++) {
            if (regions[i] != null) {
                regions[i].unuse();
                regions[i] = null;
            }
        }
        count = 0;
    }

    boolean hasPieces() {
        return count > 0;
    }

    /** True if nothing has to be posted. */
    boolean isNothing() {
        if (operation == Operation.PUT || operation == Operation.GET) {
            for (int i = 0; i < count; i++) {
                if (lengths[i] > 0) {
                    return false;
                }
            }
            return true;
        }
        return false;
    }

    /** Fills the next request of it. */
    void fill(SendRequestFlyweight request, int segmentMax) {
        boolean isFirst = !isStartedNow();
        request.fenced(isFenced && isFirst);
        switch (operation) {
            case Operation.SEND -> {
                // A piece of length 0 is 2 GiB to some NICs: nothing is no piece.
                if (lengths[0] == 0) {
                    request.segments(0).send();
                } else {
                    request.segment(regions[0].registered, offsets[0], (int) lengths[0]).send();
                }
                isPosted = true;
            }
            case Operation.PUT -> piece(request, segmentMax, true);
            case Operation.GET -> piece(request, segmentMax, false);
            case Operation.PUT_NOTIFY -> putOrNotify(request, segmentMax);
            default -> atomic(request);
        }
        outstanding++;
        isStarted = true;
    }

    private boolean isStartedNow() {
        return outstanding + completed > 0;
    }

    private void putOrNotify(SendRequestFlyweight request, int segmentMax) {
        if (done < lengths[0]) {
            piece(request, segmentMax, true);
            isPosted = false;
            return;
        }
        bytes.putLong(scratchAt + RECORD_AT, targets[0]);
        bytes.putLong(scratchAt + RECORD_AT + RECORD_LENGTH, lengths[0]);
        bytes.putInt(scratchAt + RECORD_AT + RECORD_KEY, key);
        bytes.putInt(scratchAt + RECORD_AT + RECORD_KEY + Integer.BYTES, 0);
        request.segment(scratch, scratchAt + RECORD_AT, RECORD).sendImmediate(tag);
        isPosted = true;
    }

    private void piece(SendRequestFlyweight request, int segmentMax, boolean isPut) {
        while (lengths[piece] == 0) {
            piece++;
        }
        int length = (int) Math.min(segmentMax, lengths[piece] - done);
        request.segment(regions[piece].registered, offsets[piece] + done, length);
        if (isPut) {
            request.write(targets[piece] + done, key);
        } else {
            request.read(targets[piece] + done, key);
        }
        done += length;
        if (operation == Operation.PUT_NOTIFY || done < lengths[piece]) {
            return;
        }
        done = 0;
        piece++;
        while (piece < count && lengths[piece] == 0) {
            piece++;
        }
        isPosted = piece == count;
    }

    private void atomic(SendRequestFlyweight request) {
        request.segment(scratch, scratchAt, Long.BYTES);
        if (operation == Operation.FETCH_ADD) {
            request.fetchAdd(targets[0], key, operand);
        } else {
            request.compareSwap(targets[0], key, operand, update);
        }
        isPosted = true;
    }

    /** One request completed well; true if that was the last. */
    boolean complete() {
        outstanding--;
        completed++;
        if (!isPosted || outstanding > 0) {
            return false;
        }
        if (operation == Operation.FETCH_ADD || operation == Operation.COMPARE_SWAP) {
            value = bytes.getLong(scratchAt);
        }
        return true;
    }

    /** This one is behind it. */
    void precede(Work following) {
        next = following;
    }

    /** Something of it cannot be done. */
    void worsen(int worse) {
        status = Math.max(status, worse);
    }

    /** Ended without success. */
    void fail(int worse) {
        worsen(worse);
        value = 0;
    }

    /** What the peer must know to say why it refused the request behind the completed ones. */
    Frames.Repair refused(
            int number, int packet, int segmentMax, int serial, boolean isUnanswered) {
        int left = completed;
        int at = 0;
        for (; at < count - 1; at++) {
            int requests = (int) ((lengths[at] + segmentMax - 1) / segmentMax);
            if (left < requests) {
                break;
            }
            left -= requests;
        }
        return new Frames.Repair(
                number,
                packet,
                key,
                targets[at],
                lengths[at],
                rights(operation),
                serial,
                isUnanswered);
    }

    /** What an operation needs at its target. */
    static int rights(int operation) {
        return switch (operation) {
            case Operation.GET -> RemoteDescriptor.REMOTE_READ;
            case Operation.PUT, Operation.PUT_NOTIFY -> RemoteDescriptor.REMOTE_WRITE;
            default -> RemoteDescriptor.REMOTE_ATOMIC;
        };
    }

    boolean isGet() {
        return operation == Operation.GET;
    }

    /**
     * Whether all that was posted behind it may be done twice. The peer may have carried it out
     * although the answer to this one did not come: gets and puts may come again, nothing else.
     */
    boolean mayRepeatBehind() {
        boolean mayRepeat = true;
        for (Work work = next; work != null; work = work.next) {
            boolean isHarmless = work.operation == Operation.GET || work.operation == Operation.PUT;
            mayRepeat &= isHarmless || !work.isStartedNow();
        }
        return mayRepeat;
    }

    boolean isFenced() {
        return isFenced;
    }

    /** Whether a message slot of the peer was reserved for it. */
    boolean hasCredit() {
        return operation == Operation.SEND || operation == Operation.PUT_NOTIFY;
    }
}
