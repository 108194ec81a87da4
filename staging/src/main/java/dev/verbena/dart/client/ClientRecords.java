package dev.verbena.dart.client;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;
import java.util.UUID;

/**
 * What a client tells its server beside headers: a question whether it lives, pauses, where to go
 * on, goodbye. Nothing waits: what cannot be sent now is tried again by the caller. One thread.
 */
final class ClientRecords {
    private final ControlOutbox outbox;
    private UUID job;
    private int clientId;
    private long connection;
    private boolean isSuspendWanted;
    private boolean isSuspendTold;

    ClientRecords(ControlOutbox outbox) {
        this.outbox = outbox;
    }

    /** Another server, which has been told nothing yet. */
    void connected(UUID itsJob, int id, long itsConnection) {
        job = itsJob;
        clientId = id;
        connection = itsConnection;
        isSuspendTold = false;
    }

    /** Asks whether the server lives; false: not now. */
    boolean heartbeat() {
        ControlFlyweight record = outbox.begin(ControlFlyweight.HEARTBEAT, job);
        return record != null && send(record.heartbeat(clientId));
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
        ControlFlyweight record = outbox.begin(ControlFlyweight.SUSPEND, job);
        if (record == null || !send(record.suspend(clientId, isSuspendWanted))) {
            return 0;
        }
        isSuspendTold = isSuspendWanted;
        return 1;
    }

    /** Says where to go on; false: not now. */
    boolean resume(long oldestUnconfirmed, long epochMs) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.RESUME, job);
        return record != null && send(record.resume(clientId, oldestUnconfirmed, epochMs));
    }

    void goodbye(long lastSequence) {
        ControlFlyweight record = outbox.begin(ControlFlyweight.GOODBYE, job);
        if (record != null) {
            send(record.goodbye(clientId, lastSequence, ControlFlyweight.RESULT_OK));
        }
    }

    private boolean send(ControlFlyweight record) {
        return outbox.send(record, connection) == Transport.ACCEPTED;
    }
}
