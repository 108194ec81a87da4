package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Runs;
import java.util.List;

/** Pushes a box into the client's memory, once pieces cover it. */
final class GetJob extends Job implements TransferListener {
    /** Shorter runs are put together in a slot, so that a transfer has more than one of them. */
    private static final int DIRECT_MIN = 16 * 1024;

    /** Why it failed, see {@link #end}. */
    static final String GONE = ": the client is gone";

    private final ArrayStore store;
    private final Slots slots;
    private final Box box;
    private final Box memory;
    private Version version;
    private int size;
    private List<Piece> pieces;
    private int nextPiece;
    private Assembly assembly;

    /** What is pushed: the runs of a piece or of a part in the slot. */
    private NntiBuffer from;

    private Runs runs;

    GetJob(ArrayStore store, Slots slots, ArrayRequest request, Caller caller, long nowNs) {
        super(request, caller, nowNs);
        this.store = store;
        this.slots = slots;
        box = Requests.box(request.box());
        memory = Requests.box(request.memory());
    }

    @Override
    boolean attempt() {
        version = store.find(name, request.number());
        if (version == null) {
            return mustWait(ArrayStatus.UNKNOWN, "there is none");
        }
        ArrayDescription array = version.description;
        if (request.shape().count() > 0) {
            Box whole = Requests.whole(name, request.shape());
            version.requireSame(whole, ArrayType.of(request.type()));
        }
        Requests.requireInside(array, box, memory, caller.memoryLength());
        pieces = version.covering(box);
        if (pieces == null) {
            version.requireFile();
            String why = "no pieces cover box " + box;
            if (version.isSealed()) {
                throw version.failure(ArrayStatus.NOT_COVERED, why);
            }
            return mustWait(ArrayStatus.NOT_COVERED, why);
        }
        size = array.type().size();
        pieces.forEach(Piece::use);
        if (pieces.stream().allMatch(this::isDirect)) {
            push();
        } else {
            slots.take(this);
        }
        return true;
    }

    private boolean isDirect(Piece piece) {
        return piece.memory != null && runsOf(piece).length() >= DIRECT_MIN;
    }

    private Runs runsOf(Piece piece) {
        return piece.box.intersect(box).runs(piece.box, memory, size);
    }

    /** It may use a slot until it gives it back. */
    void onSlot(NntiBuffer slot) {
        assembly = new Assembly(version, pieces, box, slot);
        from = slot;
        push();
    }

    private void push() {
        try {
            while (runs == null || !runs.next()) {
                runs = nextRuns();
                if (runs == null) {
                    end(null);
                    return;
                }
            }
            if (!caller.move(false, from, runs, this)) {
                end(GONE);
            }
        } catch (RuntimeException e) {
            end(": " + e.getMessage());
        }
    }

    /** Of the next piece, or of the next part that was put together; null: there is none. */
    private Runs nextRuns() {
        if (assembly != null) {
            Box part = assembly.next();
            return part == null ? null : part.runs(part, memory, size);
        }
        if (nextPiece == pieces.size()) {
            return null;
        }
        Piece piece = pieces.get(nextPiece++);
        from = piece.memory;
        return runsOf(piece);
    }

    @Override
    public void onTransferred(RpcResult result) {
        if (result == RpcResult.OK) {
            push();
        } else {
            end(" did not go: " + result);
        }
    }

    /** Why it failed; null: it has not. True. */
    boolean end(String why) {
        pieces.forEach(store::unuse);
        if (why == null) {
            succeed(version.description);
        } else {
            fail(version.failure(ArrayStatus.FAILED, "box " + box + why));
        }
        if (assembly != null) {
            assembly.close();
            slots.give(from, this);
        }
        return true;
    }
}
