package dev.verbena.dart.server;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartConfiguration;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.Assignments;
import dev.verbena.dart.config.ConfigurationFile;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.RegisterFlyweight;
import dev.verbena.staging.Names;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.UUID;
import java.util.function.BiConsumer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What only the master does: claims and publishes the configuration file, takes registrations,
 * gives clients out to the servers in turn. Owned by t1.
 */
final class MasterAdmission implements AutoCloseable {
    private static final int FORWARD_LIMIT = 64;

    /**
     * Registrations over one connection that may wait: a process has one, or those of its ranks.
     */
    private static final int WAITING_MAX = 128;

    /** Whoever looks whether the file is claimed holds its lock for a moment. */
    private static final long CLAIM_NS = 1_000_000_000L;

    private static final long PUBLISH_AGAIN_NS = 1_000_000_000L;

    /** What is still to be forwarded, or kept until all servers are there. */
    private static final class Waiting {
        final UnsafeBuffer register;
        final ServerPeer from;

        /** Its server, once that was chosen; null: not yet. */
        Assignments.Assignment assignment;

        /** Earlier registrations of the same process, once that was counted. */
        int before = -1;

        Waiting(UnsafeBuffer register, ServerPeer from) {
            this.register = register;
            this.from = from;
        }
    }

    private final ServerShared shared;
    private final ServerSettings settings;
    private final Transport transport;
    private final ControlOutbox outbox;
    private final BiConsumer<ControlFlyweight, ServerPeer> serve;
    private final ServedClients clients;
    private final ArrayDeque<ServerPeer> toAnswer = new ArrayDeque<>();
    private final Assignments assignments = new Assignments();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final ControlFlyweight waitingRecord = new ControlFlyweight();

    /** Slaves that are connected, by id. */
    final Int2ObjectHashMap<ServerPeer> slaves = new Int2ObjectHashMap<>();

    private final ConfigurationFile file;
    private final DartConfiguration published;
    private final String temporarySuffix;
    private final long startNs;
    private boolean isClaimed;
    private boolean isToPublish;
    private boolean isFailureReported;
    private long publishAtNs;
    private int lastSlaveId;
    private int nextDelegate;

    /**
     * A master that has not published yet.
     *
     * @param serve takes a client on at this very server
     */
    MasterAdmission(
            ServerShared shared,
            Transport transport,
            ControlOutbox outbox,
            ServedClients clients,
            BiConsumer<ControlFlyweight, ServerPeer> serve) {
        this.shared = shared;
        this.settings = shared.settings;
        this.transport = transport;
        this.outbox = outbox;
        this.serve = serve;
        this.clients = clients;
        Environment environment = settings.environment();
        this.startNs = environment.nanoClock().nanoTime();
        transport.listen();
        // From here on nothing throws: nobody would close it.
        this.file = new ConfigurationFile(environment, settings.service().configurationFile());
        file.onReady(shared::wakeT1);
        UUID job =
                settings.isLegacyFile()
                        ? DartConfiguration.NO_JOB
                        : settings.service().job() == null
                                ? Names.job(environment)
                                : settings.service().job();
        published =
                new DartConfiguration(
                        job,
                        environment.epochClock().time(),
                        transport.uri(),
                        settings.serverCount(),
                        settings.clientCount());
        temporarySuffix = job.toString().substring(0, 8) + "-" + Long.toHexString(startNs);
        shared.identify(job, settings.isLegacyFile() ? 0 : published.epochMs(), 0);
        assignments.addServer(0);
    }

    boolean isPublished() {
        return file.isPublished();
    }

    int doWork(long now) {
        int work = 0;
        if (!isClaimed) {
            work += claim(now);
        } else if (!file.isPublished() && now - publishAtNs >= 0) {
            work += publish(now);
        }
        return work + forwardWaiting();
    }

    /** Again while there is time: a device that is full, or away, may not be so for long. */
    private int publish(long now) {
        try {
            if (isToPublish) {
                file.publish(
                        settings.isLegacyFile() ? published.encodeLegacy() : published.encode(),
                        temporarySuffix);
                isToPublish = false;
            }
            return file.publishStep();
        } catch (DartException e) {
            if (now - startNs - settings.service().bootTimeoutNs() >= 0) {
                throw e;
            }
            if (!isFailureReported) {
                isFailureReported = true;
                shared.report(e);
            }
            isToPublish = true;
            publishAtNs = now + PUBLISH_AGAIN_NS;
            return 1;
        }
    }

    private int claim(long now) {
        if (file.claim(0)) {
            isClaimed = true;
            isToPublish = true;
            publishAtNs = now;
            return 1;
        }
        if (now - startNs - CLAIM_NS >= 0) {
            DartConfiguration other = file.read(name -> null);
            throw Code.NOT_BOOTSTRAPPED.because(
                    "another master has %s%s: stop it first, start this one as a slave, or "
                            + "name another file",
                    settings.service().configurationFile(),
                    other == null ? "" : " (" + other.url() + ")");
        }
        return 0;
    }

    /** When {@link #doWork} is due although nothing happens. */
    long nextDeadlineNs(long now) {
        if (!isClaimed) {
            return now + CLAIM_NS / 20;
        }
        return isToPublish ? publishAtNs : ProtocolAgent.NO_DEADLINE;
    }

    // ---- registrations

    void onRegister(ServerPeer peer, ControlFlyweight record) {
        if (!record.isOfJob(shared.job)) {
            answer(peer, ControlFlyweight.RESULT_WRONG_JOB);
            return;
        }
        if (shared.isStopRequested && !isOperator(record)) {
            answer(peer, ControlFlyweight.RESULT_STOPPING);
            return;
        }
        if (record.registration().role() == ControlFlyweight.ROLE_SLAVE) {
            if (peer.kind == ServerPeer.UNKNOWN) {
                peer.becameSlave(++lastSlaveId);
                slaves.put(peer.slaveId, peer);
                assignments.addServer(peer.slaveId);
            }
            answer(peer, ControlFlyweight.RESULT_OK);
            return;
        }
        if (peer.waitingCount >= WAITING_MAX) {
            throw Code.MALFORMED.because(
                    "a process registers again although %s registrations of it wait", WAITING_MAX);
        }
        // Throws if the address is none, while the sender can still be blamed.
        record.registration().uri();
        peer.registrationWaits();
        waiting.add(new Waiting(record.copy(), peer));
    }

    /** Somebody who sends nothing, and may have the servers stopped. */
    private boolean isOperator(ControlFlyweight record) {
        boolean isSlave = record.registration().role() == ControlFlyweight.ROLE_SLAVE;
        return settings.isStoppableByClients()
                && !isSlave
                && record.registration().applicationId() == RegisterFlyweight.APPLICATION_MAX;
    }

    /** All expected servers have been there. */
    boolean isComplete() {
        return lastSlaveId + 1 >= settings.serverCount();
    }

    /** Tells every slave once to stop; true when all were told. */
    boolean isStopForwarded(boolean isAtOnce) {
        for (ServerPeer slave : slaves.values()) {
            if (!slave.isToldToStop(isAtOnce)) {
                ControlFlyweight record = outbox.begin(ControlFlyweight.STOP, shared.job);
                if (record == null
                        || outbox.send(record.stop(isAtOnce), slave.connection)
                                == Transport.BACK_PRESSURED) {
                    return false;
                }
                slave.toldToStop(isAtOnce);
            }
        }
        return true;
    }

    void onSlaveGone(ServerPeer peer) {
        slaves.remove(peer.slaveId);
        assignments.removeServer(peer.slaveId);
    }

    /** Gives registrations out once all expected servers are there, in order of arrival. */
    private int forwardWaiting() {
        int work = 0;
        for (int i = toAnswer.size(); i > 0; i--) {
            ServerPeer peer = toAnswer.poll();
            if (isAnswered(peer)) {
                peer.answered();
                work++;
            } else {
                // One that takes nothing does not keep others from their answer.
                toAnswer.add(peer);
            }
        }
        if (!isComplete() && !shared.isStopRequested) {
            return work;
        }
        for (int i = Math.min(waiting.size(), FORWARD_LIMIT); i > 0; i--) {
            Waiting one = waiting.poll();
            if (forward(one)) {
                one.from.registrationHandedOn();
                work++;
            } else {
                // A slave that takes nothing now does not keep others from theirs.
                waiting.add(one);
            }
        }
        return work;
    }

    private boolean forward(Waiting one) {
        ControlFlyweight record = waitingRecord.wrap(one.register, 0, ControlFlyweight.LENGTH);
        if (!one.from.isConnected) {
            return true;
        }
        if (shared.isStopRequested && !isOperator(record)) {
            answer(one.from, ControlFlyweight.RESULT_STOPPING);
            return true;
        }
        assign(one, record);
        Assignments.Assignment assignment = one.assignment;
        ControlFlyweight forward = outbox.beginForward(record, assignment.clientId(), one.before);
        if (forward == null) {
            return false;
        }
        // Slaves of a service that stops take nobody any more.
        ServerPeer slave = shared.isStopRequested ? null : slaves.get(assignment.serverId());
        if (slave == null) {
            forward.end();
            serve.accept(forward, one.from);
            if (settings.isDelegating()) {
                delegate(assignment.clientId());
            }
            return true;
        }
        // Anything but back pressure means that the slave is going: its loss is reported, and the
        // process registers again or gives up.
        return outbox.send(forward, slave.connection) != Transport.BACK_PRESSURED;
    }

    /** Once for a registration, however often it is tried to hand it on. */
    private void assign(Waiting one, ControlFlyweight record) {
        if (one.assignment == null || !assignments.isThere(one.assignment.serverId())) {
            boolean isMoving = record.registration().role() == ControlFlyweight.ROLE_MOVING_CLIENT;
            one.assignment =
                    assignments.assign(
                            record.registration().applicationId(),
                            record.registration().rank(),
                            isMoving);
        }
        if (one.before < 0) {
            one.before = assignments.countRegistration(one.assignment.clientId());
        }
    }

    /**
     * Lets a slave pull for a client of this server, if there is one; the same for its lifetime.
     */
    private void delegate(int clientId) {
        ServedClient client = clients.byId(clientId);
        if (client == null || client.delegate != null || slaves.isEmpty()) {
            return;
        }
        int at = nextDelegate++ % slaves.size();
        for (ServerPeer slave : slaves.values()) {
            if (at-- == 0) {
                client.delegateTo(slave);
            }
        }
    }

    /** Owes this peer a WELCOME with this result. */
    void answer(ServerPeer peer, int result) {
        if (peer.oweAnswer(result)) {
            toAnswer.add(peer);
        }
    }

    private boolean isAnswered(ServerPeer peer) {
        if (!peer.isConnected) {
            return true;
        }
        ControlFlyweight record = outbox.begin(ControlFlyweight.WELCOME, shared.job);
        if (record == null) {
            return false;
        }
        record.welcome(0, peer.slaveId, peer.refusal, 0)
                .welcomeLimits(Long.MAX_VALUE / 2, 1, settings.ack());
        return outbox.send(record, peer.connection) != Transport.BACK_PRESSURED;
    }

    @Override
    public void close() {
        if (isClaimed && file.isPublished()) {
            file.withdraw(published);
        }
        file.close();
    }
}
