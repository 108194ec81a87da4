package dev.verbena.transport.core;

import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import java.util.Arrays;

/**
 * One operation of a {@link WorkTransport}, from its acceptance until its completion is delivered:
 * ranges that are moved piece by piece, one piece under way at a time. Used again; allocates only
 * when a vector has more ranges than any before. Others read the fields; the methods write them.
 *
 * @param <C> the provider's connection
 * @param <R> the provider's region
 */
public abstract class RecordWork<C extends TableConnection, R extends TransportRegion>
        implements EventRing.Event {
    /** A constant of {@code Operation}. */
    public int operation;

    /** Where it was posted. */
    public C connection;

    /** Of the connection when it was posted; another operation's may follow there. */
    public int handle;

    /** The user's. */
    public long context;

    /** Of a notification. */
    public int tag;

    /** Worst so far. */
    public int status;

    /** Bytes moved, or what an atomic found. */
    public long value;

    /** Where the target's offsets count from. */
    public long base;

    /** Local regions of the ranges; each is in use until {@link #unuseRegions}. */
    public R[] regions;

    /** Local offsets of the ranges. */
    public long[] offsets = new long[1];

    /** Remote offsets of the ranges. */
    public long[] remoteOffsets = new long[1];

    /** Lengths of the ranges in bytes; -1: refused, not to be moved. */
    public long[] lengths = new long[1];

    /** How many ranges there are. */
    public int count;

    /** The present range. */
    public int range;

    /** Bytes of the present range that are moved. */
    public long done;

    /** Length of the piece under way. */
    public long piece;

    /** It holds a credit for its message or notification. */
    public boolean hasCredit;

    /**
     * For providers.
     *
     * @param regions an array of length 1
     */
    protected RecordWork(R[] regions) {
        this.regions = regions;
    }

    /** It is of this connection from now on, without ranges. */
    public void begin(C c, int operation, long context) {
        this.connection = c;
        this.handle = c.handle;
        this.operation = operation;
        this.context = context;
        tag = 0;
        status = Status.OK;
        value = 0;
        count = 0;
        range = 0;
        done = 0;
        hasCredit = false;
    }

    /** It was taken for nothing: it goes back without a completion. */
    public abstract void takeBack();

    /** Its completion is about to be delivered; it may be used again at once. */
    protected abstract void onDelivered();

    /** One more range. */
    public final void add(R region, long offset, long remoteOffset, long length) {
        if (count == lengths.length) {
            int more = 2 * count;
            regions = Arrays.copyOf(regions, more);
            offsets = Arrays.copyOf(offsets, more);
            remoteOffsets = Arrays.copyOf(remoteOffsets, more);
            lengths = Arrays.copyOf(lengths, more);
        }
        region.use();
        regions[count] = region;
        offsets[count] = offset;
        remoteOffsets[count] = remoteOffset;
        lengths[count] = length;
        count++;
    }

    /** Sets {@link #base}. */
    protected final void base(long address) {
        base = address;
    }

    /** Its status is this one if it was better. */
    public final void worsen(int other) {
        status = Math.max(status, other);
    }

    /** Its notification says this, and takes a credit. */
    public final void notify(int what) {
        tag = what;
        holdCredit();
    }

    /** It holds a credit, which it may come to need or not. */
    public final void holdCredit() {
        hasCredit = true;
    }

    /** The peer has what the credit was for. */
    public final void spendCredit() {
        hasCredit = false;
    }

    /** Length of a message that was sent, or what an atomic found. */
    public final void value(long what) {
        value = what;
    }

    /** So much goes with the next post. */
    public final void piece(long length) {
        piece = length;
    }

    /** The piece under way has arrived. */
    public void onPiece() {
        done += piece;
        value += piece;
    }

    /** Where the rest of the present range goes to. */
    public final long remoteAddress() {
        return base + remoteOffsets[range] + done;
    }

    /** Bytes of the present range that are not moved. */
    public final long left() {
        return lengths[range] - done;
    }

    /** The present range is moved or given up. */
    public void nextRange() {
        range++;
        done = 0;
    }

    @Override
    public final void deliver(TransportHandler handler) {
        int delivered = operation;
        long user = context;
        int how = status;
        long what = value;
        long where = handle;
        onDelivered();
        handler.onCompletion(where, delivered, user, how, what);
    }

    /** Lets go of regions; the operation is not outstanding any more. */
    protected final void unuseRegions() {
        for (int i = 0; i < count; i++) {
            regions[i].unuse();
        }
    }

    /** Refers to nothing any more. */
    protected final void clear() {
        Arrays.fill(regions, 0, count, null);
        count = 0;
        connection = null;
    }
}
