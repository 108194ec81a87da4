package dev.verbena.ofi.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.EventRing;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One operation from its acceptance until its completion is delivered and the provider holds
 * nothing of it: ranges that are moved piece by piece, one piece under way at a time. Used again;
 * allocates only when a vector has more ranges than any before. Others read the fields; the methods
 * write them.
 */
final class Work implements EventRing.Event {
    static final int OPERAND = 0;
    static final int EXPECTED = 8;
    static final int RESULT = 16;

    final int index;

    /** What the provider knows the operation by. */
    final long fabricContext;

    /** Header and bytes of a short message; operands and result of an atomic. */
    final UnsafeBuffer packet;

    private final WorkPool pool;
    int operation;
    OfiConnection connection;
    int handle;
    long context;
    int tag;
    int status;
    long value;
    RemoteKey key;

    // The target, as the descriptor says.
    long base;

    // The ranges, and where we are.
    OfiRegion[] regions = new OfiRegion[1];
    long[] offsets = new long[1];
    long[] remoteOffsets = new long[1];
    long[] lengths = new long[1];
    int count;
    int range;
    long done;
    long piece;
    boolean hasCredit;

    /** The provider has it. */
    private boolean isPosted;

    /** It has ended for the user. */
    private boolean isEnded;

    private boolean isDelivered;
    private boolean isTaken;
    private boolean isBegun;

    Work(WorkPool pool, int index, long fabricContext, UnsafeBuffer packet) {
        this.pool = pool;
        this.index = index;
        this.fabricContext = fabricContext;
        this.packet = packet;
    }

    void begin(OfiConnection c, int operation, long context) {
        this.connection = c;
        this.handle = c.handle;
        this.operation = operation;
        this.context = context;
        tag = 0;
        status = Status.OK;
        value = 0;
        key = null;
        count = 0;
        range = 0;
        done = 0;
        hasCredit = false;
        isPosted = false;
        isEnded = false;
        isDelivered = false;
        isTaken = true;
        isBegun = false;
        c.onPosted();
    }

    void target(RemoteDescriptor d, RemoteKey key) {
        base = d.base();
        this.key = key;
    }

    void atomic(RemoteDescriptor d, long offset, long operand, long update) {
        base = d.base() + offset;
        boolean isAdd = operation == Operation.FETCH_ADD;
        packet.putLong(OPERAND, isAdd ? operand : update);
        packet.putLong(EXPECTED, operand);
        packet.putLong(RESULT, 0);
    }

    void key(RemoteKey key) {
        this.key = key;
    }

    void add(RegisteredRegion region, long offset, long remoteOffset, long length) {
        if (count == lengths.length) {
            int more = 2 * count;
            regions = Arrays.copyOf(regions, more);
            offsets = Arrays.copyOf(offsets, more);
            remoteOffsets = Arrays.copyOf(remoteOffsets, more);
            lengths = Arrays.copyOf(lengths, more);
        }
        OfiRegion own = (OfiRegion) region;
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

    void notify(int tag) {
        this.tag = tag;
        hasCredit = true;
    }

    void spendCredit() {
        hasCredit = false;
    }

    /** A message of so many bytes. */
    void sent(long length) {
        value = length;
    }

    void found(long before) {
        value = before;
    }

    void posted(long piece) {
        this.piece = piece;
        isPosted = true;
        isBegun = true;
    }

    /** The provider's completion of what was posted. */
    void unposted() {
        isPosted = false;
    }

    void ended() {
        isEnded = true;
    }

    boolean isPosted() {
        return isPosted;
    }

    boolean isEnded() {
        return isEnded;
    }

    /** Accepted, and the user was not told of its end. */
    boolean isOpen() {
        return isTaken && !isEnded;
    }

    boolean isFree() {
        return !isTaken;
    }

    /** The piece under way has arrived. */
    void onPiece() {
        done += piece;
        value += piece;
    }

    /** The present range cannot be moved. */
    void skipRange() {
        lengths[range] = -1;
    }

    boolean isRangeDone() {
        return lengths[range] < 0 || done == lengths[range] && (isBegun || done > 0);
    }

    boolean isEmptyRange() {
        return lengths[range] == 0;
    }

    void nextRange() {
        range++;
        done = 0;
        isBegun = false;
    }

    long localAddress() {
        return regions[range].begin() + offsets[range] + done;
    }

    long remoteAddress() {
        return base + remoteOffsets[range] + done;
    }

    long left() {
        return lengths[range] - done;
    }

    @Override
    public void deliver(TransportHandler handler) {
        int delivered = operation;
        long user = context;
        int how = status;
        long what = value;
        long where = handle;
        isDelivered = true;
        for (int i = 0; i < count; i++) {
            regions[i].unuse();
            if (isPosted && operation == Operation.GET) {
                regions[i].abandonGet();
            }
        }
        pool.delivered();
        if (!isPosted) {
            recycle();
        }
        handler.onCompletion(where, delivered, user, how, what);
    }

    /** The provider's completion of an operation that had ended for the user before. */
    void abandonedEnded() {
        isPosted = false;
        if (!isDelivered) {
            return;
        }
        for (int i = 0; i < count && operation == Operation.GET; i++) {
            regions[i].abandonedGetEnded();
        }
        recycle();
    }

    /** Nothing came of it: it was not accepted. */
    void takeBack() {
        for (int i = 0; i < count; i++) {
            regions[i].unuse();
        }
        connection.onPostEnded();
        pool.delivered();
        recycle();
    }

    private void recycle() {
        Arrays.fill(regions, 0, count, null);
        count = 0;
        connection = null;
        key = null;
        isTaken = false;
        pool.recycle(this);
    }
}
