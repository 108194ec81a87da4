package dev.verbena.ofi.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.core.RecordWork;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * An operation until the provider holds nothing of it, which may be after its completion was
 * delivered. Others read the fields; the methods write them.
 */
final class Work extends RecordWork<OfiConnection, OfiRegion> {
    static final int OPERAND = 0;
    static final int EXPECTED = 8;
    static final int RESULT = 16;

    /** What the provider knows the operation by. */
    final long fabricContext;

    /** Header and bytes of a short message; operands and result of an atomic. */
    final UnsafeBuffer packet;

    private final WorkPool pool;
    RemoteKey key;

    /** The provider has it. */
    private boolean isPosted;

    /** It has ended for the user. */
    private boolean isEnded;

    private boolean isDelivered;
    private boolean isTaken;

    Work(WorkPool pool, long fabricContext, UnsafeBuffer packet) {
        super(new OfiRegion[1]);
        this.pool = pool;
        this.fabricContext = fabricContext;
        this.packet = packet;
    }

    @Override
    public void begin(OfiConnection c, int operation, long context) {
        super.begin(c, operation, context);
        key = null;
        isPosted = false;
        isEnded = false;
        isDelivered = false;
        isTaken = true;
        c.onPosted();
    }

    void target(RemoteDescriptor d) {
        base(d.base());
    }

    void atomic(RemoteDescriptor d, long offset, long operand, long update) {
        base(d.base() + offset);
        boolean isAdd = operation == Operation.FETCH_ADD;
        packet.putLong(OPERAND, isAdd ? operand : update);
        packet.putLong(EXPECTED, operand);
        packet.putLong(RESULT, 0);
    }

    void key(RemoteKey key) {
        this.key = key;
    }

    void posted(long length) {
        piece(length);
        isPosted = true;
        if (key != null) {
            key.posted();
        }
    }

    /** The provider's completion of what was posted. */
    void unposted() {
        isPosted = false;
        if (key != null) {
            key.unposted();
        }
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

    long localAddress() {
        return regions[range].begin() + offsets[range] + done;
    }

    @Override
    protected void onDelivered() {
        isDelivered = true;
        unuseRegions();
        for (int i = 0; i < count && isPosted && holdsRegions(); i++) {
            regions[i].abandon();
        }
        pool.delivered();
        if (!isPosted) {
            recycle();
        }
    }

    /** Short messages go from the packet. */
    private boolean holdsRegions() {
        return operation != Operation.SEND || piece > Engine.SHORT_MAX;
    }

    /** The provider's completion of an operation that had ended for the user before. */
    void abandonedEnded() {
        unposted();
        if (!isDelivered) {
            return;
        }
        for (int i = 0; i < count && holdsRegions(); i++) {
            regions[i].abandonedEnded();
        }
        recycle();
    }

    @Override
    public void takeBack() {
        unuseRegions();
        connection.onPostEnded();
        pool.delivered();
        recycle();
    }

    private void recycle() {
        clear();
        key = null;
        isTaken = false;
        pool.recycle(this);
    }
}
