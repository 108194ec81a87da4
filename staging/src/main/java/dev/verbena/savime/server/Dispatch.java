package dev.verbena.savime.server;

import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.MessageCheck;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.savime.wire.StgType;
import org.agrona.DirectBuffer;

/** Which message is whose, and what needs no other: HELLO, STATUS, HEARTBEAT, BYE. */
final class Dispatch {
    private final ServerSettings settings;
    private final Registry registry;
    private final Admission admission;
    private final Openings openings;
    private final Reception reception;
    private final Sealing sealing;
    private final Forwarding forwarding;
    private final StgFlyweight message = new StgFlyweight();

    Dispatch(
            ServerSettings settings,
            Registry registry,
            Admission admission,
            Openings openings,
            Reception reception,
            Sealing sealing,
            Forwarding forwarding) {
        this.settings = settings;
        this.registry = registry;
        this.admission = admission;
        this.openings = openings;
        this.reception = reception;
        this.sealing = sealing;
        this.forwarding = forwarding;
    }

    /**
     * A message.
     *
     * @throws IllegalArgumentException if it is malformed or not allowed: its sender is dropped
     */
    void onMessage(Connection by, DirectBuffer buffer, int offset, int length) {
        MessageCheck.check(buffer, offset, length);
        message.wrap(buffer, offset);
        if (message.length() != length || message.type() == StgType.BLOCK_DATA) {
            throw new IllegalArgumentException("message of type " + message.type());
        }
        by.heard(settings.environment().nanoClock().nanoTime());
        if (by.isEnding) {
            return;
        }
        if (message.type() == StgType.HELLO) {
            onHello(by);
            return;
        }
        if (by.session == null || message.session() != by.session.id) {
            throw new IllegalArgumentException("a message before HELLO, or of another session");
        }
        switch (message.type()) {
            case StgType.DATASET_OPEN -> openings.onOpen(by, message, buffer);
            case StgType.BLOCK_REQUEST -> reception.onBlockRequest(by, message);
            case StgType.BLOCK_RELEASE -> reception.onRelease(by, message);
            case StgType.DATASET_SYNC -> sealing.onSync(by, message);
            case StgType.DATASET_ABORT -> reception.onAbort(by, message);
            case StgType.RUN -> forwarding.onRun(by, message);
            case StgType.STATUS -> onStatus(by);
            case StgType.HEARTBEAT -> onHeartbeat(by);
            case StgType.BYE -> onBye(by);
            default ->
                    throw new IllegalArgumentException(
                            "message of type " + message.type() + " is a server's");
        }
    }

    private void onHello(Connection by) {
        long clientId = message.clientId();
        int status = StgStatus.OK;
        if (!message.hasToken(settings.token())) {
            status = StgStatus.AUTH_FAILED;
        } else if (by.session != null || message.maxBlock() < 1 || message.window() < 1) {
            status = StgStatus.BAD_MESSAGE;
        } else if (!registry.hasSession(clientId)
                && registry.sessionCount() >= settings.sessionsMax()) {
            status = StgStatus.TOO_MANY;
        }
        if (status != StgStatus.OK) {
            by.reply(StgType.HELLO_ACK, message.request(), status);
            by.end();
            return;
        }
        int block = Math.min(message.maxBlock(), settings.blockMax());
        int window = Math.min(message.window(), settings.windowMax());
        int agreed =
                message.features()
                        & (StgFlags.FEATURE_CRC
                                | StgFlags.FEATURE_RESUME
                                | (by.isOneSided ? 0 : StgFlags.FEATURE_TCP_DATA));
        Session session = registry.session(clientId);
        session.add(by);
        by.greeted(session, block, window, agreed);
        by.reply(StgType.HELLO_ACK, message.request(), StgStatus.OK)
                .maxBlock(block)
                .window(window)
                .free(admission.freeMemory(), Math.max(0, admission.disk.free()))
                .heartbeatMs(settings.heartbeatMs())
                .agreed(agreed);
    }

    private void onStatus(Connection by) {
        long id = message.datasetId();
        Dataset dataset = id == 0 ? null : registry.dataset(id);
        DatasetState state = dataset == null ? registry.ended(id) : dataset.state;
        boolean isKnown = id == 0 || state != null;
        by.reply(
                        StgType.STATUS_REPLY,
                        message.request(),
                        isKnown ? StgStatus.OK : StgStatus.NO_SUCH_DATASET)
                .state(id, state == null ? 0 : state.code(), 0)
                .counts(
                        by.session.forwardedBytes,
                        forwarding.queued(),
                        forwarding.sending(),
                        by.session.failedCount());
    }

    private void onHeartbeat(Connection by) {
        by.reply(StgType.HEARTBEAT, message.request(), StgStatus.OK);
    }

    private void onBye(Connection by) {
        by.end();
    }

    /** A connection is gone. */
    void lost(Connection connection, long nowNs) {
        connection.end();
        Session session = connection.session;
        if (session != null) {
            session.remove(connection, nowNs);
            reception.lost(connection, nowNs);
            forwarding.lost(connection);
            registry.forgetIfOver(session);
        }
    }
}
