package dev.verbena.dart.server;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.config.MasterLink;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;

/**
 * How a slave becomes one: finds the master, registers, and marks beside the configuration file
 * that it lives. Owned by t1.
 */
final class SlaveRegistration implements AutoCloseable {
    /** Tried this often to mark that it lives, should the mark be looked at just now. */
    private static final long CLAIM_AGAIN_NS = 100_000_000L;

    private final ServerShared shared;
    private final Environment environment;
    private final Transport transport;
    private final ControlOutbox outbox;
    private final ServerPeer master;
    private final MasterLink link;
    private boolean hasSentRegister;
    private boolean isRegistered;
    private boolean isClaimed;
    private long claimAtNs;

    SlaveRegistration(
            ServerShared shared,
            Transport transport,
            ControlOutbox outbox,
            ServerPeer master,
            long timeoutNs) {
        this.shared = shared;
        this.environment = shared.settings.environment();
        this.transport = transport;
        this.outbox = outbox;
        this.master = master;
        this.link =
                new MasterLink(
                        environment,
                        transport,
                        shared.settings.service().configurationFile(),
                        null,
                        null,
                        0,
                        timeoutNs);
    }

    /**
     * Goes on registering, or marks that this slave lives; work done.
     *
     * @throws DartException when the time for registering is over
     */
    int doWork(long now) {
        if (!isRegistered && !shared.isStopRequested) {
            return register(now);
        }
        if (!isClaimed && now - claimAtNs >= 0) {
            claimAtNs = now + CLAIM_AGAIN_NS;
            isClaimed = isMarked();
        }
        return 0;
    }

    /** Where the mark cannot be made the service goes on without. */
    private boolean isMarked() {
        try {
            return link.claim(shared.serverId);
        } catch (DartException e) {
            shared.report(e);
            return true;
        }
    }

    private int register(long now) {
        int work = link.doWork(now, master.context);
        if (link.isConnected() && !hasSentRegister) {
            ControlFlyweight record = outbox.begin(ControlFlyweight.REGISTER, link.job());
            if (record != null) {
                record.registration().write(ControlFlyweight.ROLE_SLAVE, 0, 0, 0, transport.uri());
                hasSentRegister = outbox.send(record, link.connection()) == Transport.ACCEPTED;
                work++;
            }
        }
        if (link.isTimeOver(now) || link.isHopeless()) {
            throw link.failure();
        }
        return work;
    }

    /** The master's answer; true if this server is a slave now. */
    boolean onWelcome(ControlFlyweight record) {
        if (record.welcomeResult() != ControlFlyweight.RESULT_OK) {
            link.onRefused(environment.nanoClock().nanoTime(), record.welcomeResult());
            transport.disconnect(master.connection);
            master.disconnected();
            return false;
        }
        shared.identify(link.job(), link.epochMs(), record.serverId());
        isRegistered = true;
        shared.wakeT3();
        return true;
    }

    /** Whether this is the connection that was asked for last. */
    boolean isAwaited(long connection) {
        return connection == link.connection();
    }

    void onConnected() {
        hasSentRegister = false;
        link.onConnected();
    }

    void onConnectFailed(int status, String reason) {
        link.onConnectFailed(environment.nanoClock().nanoTime(), status, reason);
    }

    /** The connection to the master has ended. */
    void onMasterGone(String reason) {
        if (!isRegistered) {
            link.onLost(environment.nanoClock().nanoTime(), reason);
        }
    }

    long nextDeadlineNs() {
        if (!isRegistered) {
            return link.nextDeadlineNs();
        }
        return isClaimed ? ProtocolAgent.NO_DEADLINE : claimAtNs;
    }

    @Override
    public void close() {
        link.close();
    }
}
