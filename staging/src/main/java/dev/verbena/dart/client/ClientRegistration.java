package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.config.MasterLink;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;
import java.util.UUID;
import org.agrona.concurrent.NanoClock;

/**
 * How a client gets a server: finds the master and registers, the first time or after the loss of
 * its server, again and again until the time is over. What the answers mean is decided in {@link
 * ClientProtocol}. One thread.
 */
final class ClientRegistration {
    /** Context of the connection to the master. */
    static final long CONTEXT_MASTER = 1;

    /** A server that was asked to take this client over, and does not, is passed over. */
    private static final long MOVE_ANSWER_NS = 2_000_000_000L;

    private final ClientSettings settings;
    private final Transport transport;
    private final ControlOutbox outbox;
    private final NanoClock clock;
    private MasterLink link;

    /** Job of the master that was found last; null: none was found yet. */
    UUID job;

    /** A server may come now. */
    boolean hasRegistered;

    private boolean hasEnded;
    private long registeredNs;

    ClientRegistration(
            ClientSettings settings,
            Transport transport,
            ControlOutbox outbox,
            long bootTimeoutNs) {
        this.settings = settings;
        this.transport = transport;
        this.outbox = outbox;
        this.clock = settings.environment().nanoClock();
        this.link = newLink(settings.service().job(), 0, bootTimeoutNs);
    }

    private MasterLink newLink(UUID wantedJob, long wantedEpochMs, long timeoutNs) {
        return new MasterLink(
                settings.environment(),
                transport,
                settings.service().configurationFile(),
                settings.variables(),
                wantedJob,
                wantedEpochMs,
                timeoutNs);
    }

    /** Begins anew: the server is lost, and another one of the same master is wanted. */
    void again(UUID ofJob, long epochMs) {
        hasRegistered = false;
        hasEnded = false;
        job = null;
        link = newLink(ofJob, epochMs, settings.service().bootTimeoutNs());
    }

    /** Looks for the master and registers; work done. */
    int doWork(long now, boolean isMoving) {
        int work = link.doWork(now, CONTEXT_MASTER);
        if (link.isConnected() && !hasRegistered) {
            work += register(now, isMoving);
        }
        boolean isUnanswered = hasRegistered && now - registeredNs - MOVE_ANSWER_NS >= 0;
        if (isMoving && isUnanswered && link.isConnected() && !isOver(now)) {
            transport.disconnect(link.connection());
            hasRegistered = false;
            link.onLost(now, "nobody took this process over");
            work++;
        }
        return work;
    }

    private int register(long now, boolean isMoving) {
        job = link.job();
        ControlFlyweight record = outbox.begin(ControlFlyweight.REGISTER, job);
        if (record == null) {
            return 0;
        }
        record.registration()
                .write(
                        isMoving
                                ? ControlFlyweight.ROLE_MOVING_CLIENT
                                : ControlFlyweight.ROLE_CLIENT,
                        settings.maxInFlight(),
                        settings.rank(),
                        settings.applicationId(),
                        transport.uri());
        hasRegistered = outbox.send(record, link.connection()) == Transport.ACCEPTED;
        registeredNs = now;
        return 1;
    }

    /** Whether there is no use in going on. */
    boolean isOver(long now) {
        return link.isTimeOver(now) || link.isHopeless();
    }

    /** What to tell then. */
    DartException failure() {
        return link.failure();
    }

    long epochMs() {
        return link.epochMs();
    }

    boolean isAnyJob() {
        return link.isAnyJob();
    }

    /** Refused for a reason that a newer file, or another server, may cure. */
    void onRefused(long connection, int result) {
        hasRegistered = false;
        if (link.connection() != connection) {
            // A slave refuses: the next try connects to the master anew.
            disconnect();
        }
        link.onRefused(clock.nanoTime(), result);
        transport.disconnect(connection);
    }

    void onConnected(long connection) {
        if (isAwaited(connection)) {
            link.onConnected();
        } else {
            transport.disconnect(connection);
        }
    }

    void onConnectFailed(long connection, int status, String reason) {
        if (isAwaited(connection)) {
            link.onConnectFailed(clock.nanoTime(), status, reason);
        }
    }

    /** Others were asked for before, or a server has come first. */
    private boolean isAwaited(long connection) {
        return !hasEnded && connection == link.connection();
    }

    /** A connection to a master has ended. */
    void onGone(long connection, String reason) {
        if (connection == link.connection() && link.isConnected()) {
            hasRegistered = false;
            link.onLost(clock.nanoTime(), reason);
        }
    }

    long nextDeadlineNs() {
        return link.nextDeadlineNs();
    }

    /** Lets the master go, unless it is the server that was found. */
    void end(long serverConnection) {
        if (link.connection() != serverConnection) {
            disconnect();
        }
        hasEnded = true;
        link.close();
    }

    void disconnect() {
        if (link.isConnected()) {
            transport.disconnect(link.connection());
        }
    }

    void close() {
        link.close();
    }
}
