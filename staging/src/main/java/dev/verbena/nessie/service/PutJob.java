package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayRequest;

/** Pulls a piece out of the client's memory. Its box is reserved from the begin. */
final class PutJob extends Job implements TransferListener {
    private final ArrayStore store;
    private final Version version;
    private final Box box;
    private final Piece piece;
    private final Runs runs;

    PutJob(ArrayStore store, ArrayRequest request, Caller caller, long nowNs, long pieceMax) {
        super(request, caller, nowNs);
        this.store = store;
        ArrayDescription array =
                Requests.description(name(), number(), request.type(), request.shape());
        int size = array.type().size();
        box = Requests.box(request.box());
        Box memory = Requests.box(request.memory());
        Requests.requireInside(array, box, memory, caller.memoryLength());
        if (box.volume() > pieceMax / size) {
            throw Version.failure(
                    ArrayStatus.TOO_LARGE,
                    name(),
                    number(),
                    "piece " + box + " has more than " + pieceMax + " bytes");
        }
        version = store.open(array);
        piece = version.reserve(box);
        runs = new Runs(box, memory, box, size);
    }

    @Override
    boolean needsMemory() {
        return true;
    }

    @Override
    boolean attempt() {
        NntiBuffer memory = store.take(piece.length());
        if (memory == null) {
            return mustWait(ArrayStatus.BUSY, "there is no memory for piece " + box);
        }
        piece.memory(memory);
        next();
        return true;
    }

    private void next() {
        if (!runs.next()) {
            store.completed(version, piece);
            succeed(version.description());
            return;
        }
        boolean isStarted =
                caller().pull(
                                piece.memory(),
                                runs.toOffset(),
                                runs.length(),
                                runs.fromOffset(),
                                this);
        if (!isStarted) {
            failed(RpcResult.EIO);
        }
    }

    @Override
    public void onTransferred(RpcResult result) {
        if (result == RpcResult.OK) {
            next();
        } else {
            failed(result);
        }
    }

    private void failed(RpcResult result) {
        giveUp();
        fail(version.failure(ArrayStatus.FAILED, "piece " + box + " did not come: " + result));
    }

    @Override
    void giveUp() {
        store.giveUp(version, piece);
    }
}
