package dev.verbena.nessie.service;

import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import java.util.List;

/** A request that moves no data. */
final class Question extends Job {
    private final int operation;
    private final ArrayStore store;

    /** The version to be sealed: it stays so if newer ones make the store drop it. */
    private Version sealing;

    Question(int operation, ArrayStore store, ArrayRequest request, Caller caller, long nowNs) {
        super(request, caller, nowNs);
        this.operation = operation;
        this.store = store;
    }

    @Override
    boolean attempt() {
        return switch (operation) {
            case ArrayConstants.SEAL -> seal();
            case ArrayConstants.DESCRIBE -> describe();
            case ArrayConstants.VERSIONS -> versions();
            case ArrayConstants.OPEN -> succeed(store.open(description()).description);
            default -> throw Requests.bad("operation " + operation);
        };
    }

    @Override
    boolean waitsForOthers() {
        return operation != ArrayConstants.SEAL;
    }

    private boolean seal() {
        if (sealing == null && request.shape().count() > 0) {
            sealing = store.open(description());
        } else if (sealing == null) {
            sealing = request.number() < 0 ? null : store.find(name, request.number());
        }
        if (sealing == null) {
            throw failure(ArrayStatus.UNKNOWN, "there is none");
        }
        return store.seal(sealing)
                ? succeed(sealing.description)
                : mustWait(ArrayStatus.BUSY, "it is not on disk yet");
    }

    private boolean describe() {
        Version found = store.find(name, request.number());
        return found == null
                ? mustWait(ArrayStatus.UNKNOWN, "there is none")
                : succeed(found.description);
    }

    /** Sealed ones after a number, at most as many as fit into an answer. */
    private boolean versions() {
        List<Version> found = store.sealedAfter(name, request.number());
        if (found.isEmpty() && waitMs > 0) {
            return mustWait(ArrayStatus.UNKNOWN, "no later one is sealed");
        }
        ArrayReply reply = new ArrayReply();
        found.stream()
                .limit(ArrayConstants.VERSIONS_MAX)
                .forEach(each -> reply.versions().add(each.description.version()));
        caller.reply(reply);
        return true;
    }
}
