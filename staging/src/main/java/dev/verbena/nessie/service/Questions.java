package dev.verbena.nessie.service;

import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import java.util.List;

/** Requests that move no data. */
final class Questions {
    private Questions() {}

    /** Makes a version known. */
    static final class Open extends Job {
        private final ArrayStore store;
        private final ArrayDescription array;

        Open(ArrayStore store, ArrayRequest request, Caller caller, long nowNs) {
            super(request, caller, nowNs);
            this.store = store;
            array = Requests.description(name(), number(), request.type(), request.shape());
        }

        @Override
        boolean attempt() {
            succeed(store.open(array).description());
            return true;
        }
    }

    /** Brings a version to disk; nothing is put into it any more. */
    static final class Seal extends Job {
        private final ArrayStore store;
        private final Version version;

        Seal(ArrayStore store, ArrayRequest request, Caller caller, long nowNs) {
            super(request, caller, nowNs);
            this.store = store;
            Version found = number() < 0 ? null : store.find(name(), number());
            if (found == null && request.shape().count() == 0) {
                throw Version.failure(ArrayStatus.UNKNOWN, name(), number(), "there is none");
            }
            version =
                    request.shape().count() == 0
                            ? found
                            : store.open(
                                    Requests.description(
                                            name(), number(), request.type(), request.shape()));
        }

        @Override
        boolean attempt() {
            if (!store.seal(version)) {
                return mustWait(ArrayStatus.BUSY, "it is not on disk yet");
            }
            succeed(version.description());
            return true;
        }
    }

    /** Tells the shape and type of a version. */
    static final class Describe extends Job {
        private final ArrayStore store;

        Describe(ArrayStore store, ArrayRequest request, Caller caller, long nowNs) {
            super(request, caller, nowNs);
            this.store = store;
        }

        @Override
        boolean attempt() {
            Version found = store.find(name(), number());
            if (found == null) {
                return mustWait(ArrayStatus.UNKNOWN, "there is none");
            }
            succeed(found.description());
            return true;
        }
    }

    /** Tells which sealed versions there are after one, at most as many as fit into an answer. */
    static final class Versions extends Job {
        private final ArrayStore store;

        Versions(ArrayStore store, ArrayRequest request, Caller caller, long nowNs) {
            super(request, caller, nowNs);
            this.store = store;
        }

        @Override
        boolean attempt() {
            List<Version> found = store.sealedAfter(name(), number(), ArrayConstants.VERSIONS_MAX);
            ArrayReply reply = new ArrayReply();
            found.forEach(each -> reply.versions().add(each.description().version()));
            if (found.isEmpty() && isWaiting()) {
                return mustWait(ArrayStatus.UNKNOWN, "no later one is sealed");
            }
            caller().reply(reply);
            return true;
        }
    }
}
