package dev.verbena.dart.client;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;

/**
 * What a client tells its server beside headers: a question whether it lives, pauses, where to go
 * on, goodbye. Nothing waits: what cannot be sent now is tried again by the caller. One thread.
 */
final class ClientRecords {
    private final ControlOutbox outbox;
    private ServedBy server = ServedBy.NOBODY;
    private boolean isSuspendWanted;
    private boolean isSuspendTold;

    ClientRecords(ControlOutbox outbox) {
        this.outbox = outbox;
    }

    /** Another server, which has been told nothing yet. */
    void connected(ServedBy another) {
        server = another;
        isSuspendTold = false;
    }

    /** Asks whether the server lives; false: not now. */
    boolean heartbeat() {
        ControlFlyweight record = outbox.begin(ControlFlyweight.HEARTBEAT, server.job());
        return record != null && send(record.heartbeat(server.clientId()));
    }

    /** What the server is to be told of pulling. */
    void suspend(boolean isSuspended) {
        isSuspendWanted = isSuspended;
    }

    /** Tells it what it does not know yet; records sent. */
    int tellSuspended() {
        if (isSuspendTold == isSuspendWanted) {
            return 0;
        }
        ControlFlyweight record = outbox.begin(ControlFlyweight.SUSPEND, server.job());
        if (record == null || !send(record.suspend(server.clientId(), isSuspendWanted))) {
            return 0;
        }
        isSuspendTold = isSuspendWanted;
        return 1;
    }

    /** Says where to go on; false: not now. */
    boolean resume(long oldestUnconfirmed, long epochMs) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.RESUME, server.job());
        return record != null && send(record.resume(server.clientId(), oldestUnconfirmed, epochMs));
    }

    void goodbye(long lastSequence) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.GOODBYE, server.job());
        if (record != null) {
            send(record.goodbye(server.clientId(), lastSequence, ControlFlyweight.RESULT_OK));
        }
    }

    private boolean send(ControlFlyweight record) {
        return outbox.send(record, server.connection()) == Transport.ACCEPTED;
    }
}
