package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Runs;

/** Pulls a piece out of the client's memory. Its box is reserved from the begin. */
final class PutJob extends Job implements TransferListener {
    private final ArrayStore store;
    private final Piece piece;
    private final Runs runs;

    PutJob(ArrayStore store, ArrayRequest request, Caller caller, long nowNs, long pieceMax) {
        super(request, caller, nowNs);
        this.store = store;
        ArrayDescription array = description();
        int size = array.type().size();
        Box box = Requests.box(request.box());
        Box memory = Requests.box(request.memory());
        Requests.requireInside(array, box, memory, caller.memoryLength());
        if (box.volume() > pieceMax / size) {
            String why = "piece " + box + " has more than " + pieceMax + " bytes";
            throw failure(ArrayStatus.TOO_LARGE, why);
        }
        piece = store.open(array).reserve(box);
        runs = box.runs(memory, box, size);
    }

    @Override
    boolean attempt() {
        piece.version.requireFile();
        NntiBuffer memory = store.take(piece.length());
        if (memory == null) {
            return mustWait(ArrayStatus.BUSY, "there is no memory for piece " + piece.box);
        }
        piece.memory(memory);
        onTransferred(RpcResult.OK);
        return true;
    }

    /** Goes on to the next run. */
    @Override
    public void onTransferred(RpcResult result) {
        if (result != RpcResult.OK) {
            giveUp();
            fail(failure(ArrayStatus.FAILED, "piece " + piece.box + " did not come: " + result));
        } else if (!runs.next()) {
            store.completed(piece);
            succeed(piece.version.description);
        } else if (!caller.move(true, piece.memory, runs, this)) {
            onTransferred(RpcResult.EIO);
        }
    }

    @Override
    void giveUp() {
        store.giveUp(piece);
    }
}
