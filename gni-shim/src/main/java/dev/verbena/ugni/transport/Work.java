package dev.verbena.ugni.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.core.RecordWork;
import org.agrona.UnsafeApi;

/**
 * An operation with its post descriptor, and what a get that is not aligned is fetched through.
 * Others read the fields; the methods write them.
 */
final class Work extends RecordWork<GniConnection, GniRegion> {
    final int index;
    final Descriptor descriptor;

    /** Address of 8 registered bytes for the result of an atomic. */
    final long result;

    private final WorkPool pool;
    long low;
    long high;

    /** Of a get that is not aligned: what was fetched, and where its bytes begin in it. */
    int bounce;

    private int bounceSkew;
    private boolean isBouncing;

    /** Something of the present range was posted. */
    private boolean isBegun;

    Work(WorkPool pool, int index, Descriptor descriptor, long result) {
        super(new GniRegion[1]);
        this.pool = pool;
        this.index = index;
        this.descriptor = descriptor;
        this.result = result;
        this.bounce = -1;
    }

    @Override
    public void begin(GniConnection c, int operation, long context) {
        super.begin(c, operation, context);
        isBouncing = false;
        isBegun = false;
    }

    void target(RemoteDescriptor d) {
        base(d.base());
        low = d.keyLow();
        high = d.keyHigh();
    }

    /** A piece of the present range is about to be posted. */
    void beginRange() {
        isBegun = true;
    }

    /** So much goes with the next post, through the bounce buffer. */
    void bouncedPiece(long length, int skew) {
        piece(length);
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

    /** The event of its message came; one that failed has moved nothing. */
    void onMessageEnded() {
        value(status == Status.OK ? value : 0);
    }

    @Override
    public void onPiece() {
        if (isBouncing) {
            isBouncing = false;
            UnsafeApi.copyMemory(
                    null, pool.bounce(bounce) + bounceSkew, null, localAddress(), piece);
        }
        super.onPiece();
    }

    long localAddress() {
        return regions[range].range(offsets[range], lengths[range]) + done;
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

    @Override
    public void nextRange() {
        super.nextRange();
        isBegun = false;
        isBouncing = false;
    }

    @Override
    public void takeBack() {
        pool.release(this);
    }

    @Override
    protected void onDelivered() {
        pool.release(this);
    }

    /** The operation is not outstanding any more. */
    void end() {
        unuseRegions();
        clear();
    }
}
