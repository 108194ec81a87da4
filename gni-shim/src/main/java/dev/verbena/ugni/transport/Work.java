package dev.verbena.ugni.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import java.util.Arrays;
import org.agrona.UnsafeApi;

/**
 * One operation from its acceptance until its completion is delivered: ranges that are moved piece
 * by piece, one piece under way at a time. Used again; allocates only when a vector has more ranges
 * than any before. Others read the fields; the methods write them.
 */
final class Work implements EventRing.Event {
    final int index;
    final Descriptor descriptor;

    /** Address of 8 registered bytes for the result of an atomic. */
    final long result;

    private final WorkPool pool;
    int operation;
    GniConnection connection;
    int handle;
    long context;
    int tag;

    /** Worst so far. */
    int status;

    /** Bytes moved, or what an atomic found. */
    long value;

    // The target.
    long base;
    long low;
    long high;

    // The ranges, and where we are.
    GniRegion[] regions = new GniRegion[1];
    long[] offsets = new long[1];
    long[] remoteOffsets = new long[1];
    long[] lengths = new long[1];
    int count;
    int range;
    long done;

    /** The piece under way. */
    long piece;

    /** Of a get that is not aligned: what was fetched, and where its bytes begin in it. */
    int bounce;

    private int bounceSkew;
    private boolean isBouncing;

    /** Something of the present range was posted. */
    private boolean isBegun;

    /** It holds a credit for its notification. */
    boolean hasCredit;

    Work(WorkPool pool, int index, Descriptor descriptor, long result) {
        this.pool = pool;
        this.index = index;
        this.descriptor = descriptor;
        this.result = result;
        this.bounce = -1;
    }

    void begin(GniConnection c, int operation, long context) {
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
        isBouncing = false;
        isBegun = false;
        hasCredit = false;
    }

    void target(RemoteDescriptor d) {
        base = d.base();
        low = d.keyLow();
        high = d.keyHigh();
    }

    void add(RegisteredRegion region, long offset, long remoteOffset, long length) {
        if (count == lengths.length) {
            int more = 2 * count;
            regions = Arrays.copyOf(regions, more);
            offsets = Arrays.copyOf(offsets, more);
            remoteOffsets = Arrays.copyOf(remoteOffsets, more);
            lengths = Arrays.copyOf(lengths, more);
        }
        GniRegion own = (GniRegion) region;
        own.use();
        regions[count] = own;
        offsets[count] = offset;
        remoteOffsets[count] = remoteOffset;
        lengths[count] = length;
        count++;
    }

    void worsen(int other) {
        status = Math.max(status, other);
    }

    /** It holds a credit, which it may come to need or not. */
    void holdCredit() {
        hasCredit = true;
    }

    /** The peer has what the credit was for. */
    void spendCredit() {
        hasCredit = false;
    }

    /** Its notification says this. */
    void tag(int tag) {
        this.tag = tag;
    }

    /** A piece of the present range is about to be posted. */
    void beginRange() {
        isBegun = true;
    }

    /** So much goes with the next post. */
    void piece(long length) {
        piece = length;
    }

    /** So much goes with the next post, through the bounce buffer. */
    void bouncedPiece(long length, int skew) {
        piece = length;
        bounceSkew = skew;
        isBouncing = true;
    }

    /** It goes through this bounce buffer. */
    void takeBounce(int number) {
        bounce = number;
    }

    /** It needs no bounce buffer any more; answers which it had. */
    int giveBounceBack() {
        int number = bounce;
        bounce = -1;
        return number;
    }

    /** A message of so many bytes was sent. */
    void sent(long length) {
        value = length;
    }

    /** The event of its message came; one that failed has moved nothing. */
    void onMessageEnded() {
        value = status == Status.OK ? value : 0;
    }

    /** What an atomic found; 0 if it failed. */
    void found(long before) {
        value = before;
    }

    /** The piece under way has arrived. */
    void onPiece() {
        if (isBouncing) {
            isBouncing = false;
            UnsafeApi.copyMemory(
                    null, pool.bounce(bounce) + bounceSkew, null, localAddress(), piece);
        }
        done += piece;
        value += piece;
    }

    long localAddress() {
        return regions[range].range(offsets[range], lengths[range]) + done;
    }

    long remoteAddress() {
        return base + remoteOffsets[range] + done;
    }

    /** Nothing of the present range is to be posted any more. */
    boolean isRangeDone() {
        boolean isEmptyGet = operation == Operation.GET && lengths[range] == 0;
        return lengths[range] < 0 || (left() == 0 && (isBegun || isEmptyGet));
    }

    /** A get some of whose bytes do not come as whole words. */
    boolean needsBounce(RemoteDescriptor d) {
        long bits = 0;
        for (int i = 0; i < count && operation == Operation.GET; i++) {
            bits |= regions[i].range(offsets[i], lengths[i]);
            bits |= d.base() + remoteOffsets[i] | lengths[i];
        }
        return (bits & Integer.BYTES - 1) != 0;
    }

    /** Whether its connection is still the one that it was posted on. */
    boolean isConnected() {
        return connection.handle == handle && connection.state != GniConnection.FREE;
    }

    long left() {
        return lengths[range] - done;
    }

    void nextRange() {
        range++;
        done = 0;
        isBegun = false;
        isBouncing = false;
    }

    @Override
    public void deliver(TransportHandler handler) {
        int delivered = operation;
        long user = context;
        int how = status;
        long what = value;
        long where = handle;
        pool.release(this);
        handler.onCompletion(where, delivered, user, how, what);
    }

    /** Lets go of regions; the operation is not outstanding any more. */
    void clear() {
        for (int i = 0; i < count; i++) {
            regions[i].unuse();
            regions[i] = null;
        }
        count = 0;
        connection = null;
    }
}
