package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayRequest;
import java.util.List;

/** Pushes a box into the client's memory, once pieces cover it. */
final class GetJob extends Job implements TransferListener {
    /** Shorter runs are put together in a slot, so that a transfer has more than one of them. */
    private static final int DIRECT_MIN = 16 * 1024;

    private final ArrayStore store;
    private final Slots slots;
    private final Box box;
    private final Box memory;
    private final ArrayRequest request;
    private Version version;
    private int size;
    private List<Piece> pieces;
    private int nextPiece;
    private Piece direct;
    private Runs runs;
    private Assembly assembly;

    GetJob(ArrayStore store, Slots slots, ArrayRequest request, Caller caller, long nowNs) {
        super(request, caller, nowNs);
        this.store = store;
        this.slots = slots;
        this.request = request;
        box = Requests.box(request.box());
        memory = Requests.box(request.memory());
    }

    @Override
    boolean attempt() {
        Version found = store.find(name(), number());
        if (found == null) {
            return mustWait(ArrayStatus.UNKNOWN, "there is none");
        }
        ArrayDescription array = found.description();
        if (request.shape().count() > 0) {
            Box whole = Requests.whole(name(), request.shape());
            ArrayStore.requireSame(found, whole, ArrayType.of(request.type()));
        }
        Requests.requireInside(array, box, memory, caller().memoryLength());
        if (!found.covers(box)) {
            String why = "no pieces cover box " + box;
            if (found.isSealed()) {
                throw found.failure(ArrayStatus.NOT_COVERED, why);
            }
            return mustWait(ArrayStatus.NOT_COVERED, why);
        }
        begin(found);
        return true;
    }

    private void begin(Version found) {
        version = found;
        size = found.description().type().size();
        pieces = found.overlapping(box);
        pieces.forEach(Piece::use);
        if (pieces.stream().allMatch(this::isDirect)) {
            next();
        } else {
            slots.take(this);
        }
    }

    private boolean isDirect(Piece piece) {
        return piece.memory() != null && runsOf(piece).length() >= DIRECT_MIN;
    }

    private Runs runsOf(Piece piece) {
        return new Runs(piece.box().intersect(box), piece.box(), memory, size);
    }

    /** It may use a slot until it gives it back. */
    void onSlot(NntiBuffer slot) {
        assembly = new Assembly(version, pieces, box, slot);
        next();
    }

    private void next() {
        try {
            boolean isStarted = assembly == null ? nextDirect() : nextAssembled();
            if (!isStarted) {
                end(version.failure(ArrayStatus.FAILED, "box " + box + ": the client is gone"));
            }
        } catch (RuntimeException e) {
            end(version.failure(ArrayStatus.FAILED, "box " + box + ": " + e.getMessage()));
        }
    }

    private boolean nextDirect() {
        while (runs == null || !runs.next()) {
            if (nextPiece == pieces.size()) {
                end(null);
                return true;
            }
            direct = pieces.get(nextPiece++);
            runs = runsOf(direct);
        }
        return push(direct.memory());
    }

    private boolean nextAssembled() {
        while (runs == null || !runs.next()) {
            Box chunk = assembly.next();
            if (chunk == null) {
                end(null);
                return true;
            }
            runs = new Runs(chunk, chunk, memory, size);
        }
        return push(assembly.slot());
    }

    private boolean push(NntiBuffer from) {
        return caller().push(from, runs.fromOffset(), runs.length(), runs.toOffset(), this);
    }

    @Override
    public void onTransferred(RpcResult result) {
        if (result == RpcResult.OK) {
            next();
        } else {
            end(version.failure(ArrayStatus.FAILED, "box " + box + " did not go: " + result));
        }
    }

    private void end(ArrayException why) {
        for (Piece piece : pieces) {
            store.unuse(version, piece);
        }
        Assembly used = assembly;
        if (why == null) {
            succeed(version.description());
        } else {
            fail(why);
        }
        if (used != null) {
            used.close();
            slots.give(used.slot());
        }
    }
}
