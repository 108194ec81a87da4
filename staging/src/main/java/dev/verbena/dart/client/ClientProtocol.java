package dev.verbena.dart.client;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartTicket;
import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.wire.ConnectNote;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.dart.wire.ControlResult;
import dev.verbena.staging.Heartbeat;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * The client's side of the protocol: registers, watches its server, moves to another one when that
 * dies. What is on its way is in {@link ClientFlight}. Never waits. One thread.
 */
final class ClientProtocol {
    private static final int BOOTING = 0;
    private static final int CONNECTED = 1;

    /** The server is gone; the master is asked for another. */
    private static final int MOVING = 2;

    private static final int LOST = 3;
    private static final int LEAVING = 4;

    private static final int POLL_LIMIT = 64;
    private static final int CONTROL_SLOTS = 16;

    private final ClientSettings settings;
    private final Transport transport;
    private final NanoClock clock;
    private final ServerEvents events;
    private final ControlOutbox outbox;
    private final ClientRecords records;
    final ClientFlight flight;

    /** What has come back; null if there is no inbox. */
    final ClientInbox inbox;

    private final Heartbeat heartbeat;
    final ClientCommands commands;
    private final ClientRegistration registration;

    private int state = BOOTING;
    private boolean isServerStopping;
    private DartException failure;
    private UUID job;
    private long epochMs;
    private ServedBy server = ServedBy.NOBODY;

    /** The record that tells a new server where to go on; it precedes every header. */
    private boolean isResumePending;

    private int welcomedCredits;

    /** What the server said last that holds it up; empty: nothing. */
    private String trouble = "";

    ClientProtocol(
            ClientEngine client,
            ClientSettings settings,
            Transport transport,
            ClientStatistics statistics,
            long bootTimeoutNs) {
        this.settings = settings;
        this.transport = transport;
        this.clock = settings.environment().nanoClock();
        this.heartbeat = new Heartbeat(settings.service().peerTimeoutNs());
        transport.listen();
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        try {
            this.flight = new ClientFlight(client, settings, transport, statistics);
            opened.push(flight::close);
            this.outbox = new ControlOutbox(transport, CONTROL_SLOTS, ServerEvents.CONTROL_BASE);
            opened.push(outbox::close);
            this.records = new ClientRecords(outbox);
            this.commands = new ClientCommands(outbox);
            this.inbox = settings.inboxSlots() > 0 ? openInbox() : null;
            if (inbox != null) {
                opened.push(inbox::close);
            }
            this.registration = new ClientRegistration(settings, transport, outbox, bootTimeoutNs);
        } catch (RuntimeException e) {
            CloseHelper.quietCloseAll(opened);
            throw e;
        }
        flight.inbox(inbox);
        this.events =
                new ServerEvents(
                        this, settings, transport, flight, inbox, commands, outbox, registration);
    }

    private ClientInbox openInbox() {
        return new ClientInbox(
                transport,
                outbox,
                settings.inboxSlots(),
                settings.inboxMessageMax(),
                settings.environment().errorHandler());
    }

    private boolean isSeeking() {
        return state == BOOTING || state == MOVING;
    }

    /** Messages can be sent: they go at once, or as soon as another server has taken over. */
    boolean isConnected() {
        return state == CONNECTED || state == MOVING;
    }

    int clientId() {
        return server.clientId();
    }

    int serverId() {
        return server.serverId();
    }

    /** Nothing is outstanding that needs this side's memory. */
    boolean hasEnded() {
        return outbox.isIdle() && flight.isIdle();
    }

    /** Why what is waited for may not come, as far as it is known, to be put behind a message. */
    String trouble() {
        return trouble.isEmpty() ? "" : "; " + trouble;
    }

    void checkUsable() {
        if (failure != null) {
            throw new DartException(failure.code(), failure.getMessage(), failure);
        }
        if (state == BOOTING) {
            throw new IllegalStateException("DART client is not connected yet");
        }
        if (isServerStopping && !settings.isReassigned()) {
            throw Code.SERVER_STOPPING.because(server + " is stopping");
        }
    }

    int progress() {
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        if (state == CONNECTED) {
            work += serve(clock.nanoTime());
        } else if (isSeeking()) {
            work += seek(clock.nanoTime());
        }
        flight.notifyFinal();
        flight.throwIfChanged();
        return work;
    }

    private int serve(long now) {
        int work = 0;
        if (inbox != null) {
            work += inbox.doWork();
        }
        if (isResumePending && !resume()) {
            return work;
        }
        work += records.tellSuspended();
        work += commands.doWork(server.connection());
        if (flight.isAnyInFlight()) {
            work += flight.sendHeaders() + flight.checkHeaders(now);
        }
        if (heartbeat.isDue(now)) {
            if (records.heartbeat()) {
                heartbeat.asked(now);
                work++;
            }
        }
        if (heartbeat.isOver(now)) {
            transport.disconnect(server.connection());
            onServerGone(
                    "it was asked whether it lives and did not answer for %s ms"
                            .formatted(heartbeat.timeoutNs() / 1_000_000));
            work++;
        }
        return work;
    }

    /** The server is to pull nothing for now, or to go on. */
    void suspend(boolean isSuspended) {
        records.suspend(isSuspended);
        if (state == CONNECTED && !isResumePending) {
            records.tellSuspended();
        }
    }

    void beginCommand(int type, DirectBuffer payload, int offset, int length) {
        commands.begin(job, server.clientId(), type, payload, offset, length);
    }

    /** Whether the connection is the one over which a command went. */
    long serverConnection() {
        return state == CONNECTED ? server.connection() : 0;
    }

    // ---- registering

    /** Looks for the master and registers, the first time or again. */
    private int seek(long now) {
        if (failure != null) {
            throw failure;
        }
        boolean isMoving = state == MOVING;
        int work = registration.doWork(now, isMoving);
        if (registration.job != null) {
            job = registration.job;
        }
        if (registration.isOver(now)) {
            if (!isMoving) {
                throw registration.failure();
            }
            lose(registration.failure());
            return work + 1;
        }
        return work;
    }

    /** The answer of a server that was asked to take this process. */
    void onWelcome(long connection, ControlFlyweight incoming) {
        int result = incoming.welcomeResult();
        if (!isSeeking()) {
            if (connection != server.connection()) {
                // Asked earlier and too late: another server has this process.
                transport.disconnect(connection);
            }
            return;
        }
        if (!incoming.isOfJob(job) && !registration.isAnyJob()) {
            if (result == ControlFlyweight.RESULT_WRONG_JOB) {
                registration.onRefused(connection, result);
            }
            return;
        }
        if (isWorthAnotherTry(result)) {
            registration.onRefused(connection, result);
            return;
        }
        if (result != ControlFlyweight.RESULT_OK) {
            DartException refusal =
                    new DartException(
                            ControlResult.code(result),
                            "server %s refused this process: %s"
                                    .formatted(incoming.serverId(), ControlResult.name(result)));
            if (state == MOVING) {
                lose(refusal);
            } else {
                failure = refusal;
            }
            return;
        }
        if (state == MOVING && incoming.clientId() != server.clientId()) {
            lose(
                    Code.SERVER_UNREACHABLE.because(
                            "the master does not know this process any more: it was client %s and "
                                    + "would now be client %s",
                            server.clientId(), incoming.clientId()));
            transport.disconnect(connection);
            return;
        }
        connected(connection, incoming);
    }

    /** Whether a newer file, another server, a receiver or room may still come. */
    private static boolean isWorthAnotherTry(int result) {
        return switch (result) {
            case ControlFlyweight.RESULT_WRONG_JOB,
                    ControlFlyweight.RESULT_STOPPING,
                    ControlFlyweight.RESULT_RECEIVER_UNREACHABLE,
                    ControlFlyweight.RESULT_FULL ->
                    true;
            default -> false;
        };
    }

    private void connected(long connection, ControlFlyweight incoming) {
        job = incoming.job();
        epochMs = registration.epochMs();
        server = new ServedBy(job, incoming.clientId(), incoming.serverId(), connection);
        isServerStopping = false;
        trouble = "";
        records.connected(server);
        if (state == MOVING) {
            isResumePending = true;
        } else {
            flight.begin(server, incoming.welcomeCredits(), incoming.nextSequence());
        }
        welcomedCredits = incoming.welcomeCredits();
        heartbeat.begin(clock.nanoTime(), incoming.heartbeatMs() * 1_000_000L);
        state = CONNECTED;
        if (inbox != null) {
            inbox.connected(server);
        }
        registration.end(connection);
    }

    private boolean resume() {
        if (!records.resume(flight.oldestUnconfirmed, epochMs)) {
            return false;
        }
        isResumePending = false;
        flight.goOn(server, welcomedCredits);
        return true;
    }

    /** Nanoseconds until something is due. */
    long untilDeadlineNs(long now) {
        if (isSeeking()) {
            return Math.max(0, registration.nextDeadlineNs() - now);
        }
        long until = flight.isAnyInFlight() ? settings.headerTimeoutNs() : Long.MAX_VALUE;
        return Math.min(until, heartbeat.untilNs(now));
    }

    // ---- what the server says

    /** A record has come; whether it is of the server of this process, which lives then. */
    boolean heard(long connection) {
        if (connection != server.connection()) {
            return false;
        }
        heartbeat.heard(clock.nanoTime());
        return true;
    }

    /** Why the server can do nothing for this process now; empty: it can. */
    void troubled(String text) {
        trouble = text;
    }

    /** The server takes no more messages. */
    void serverStopping() {
        isServerStopping = true;
    }

    /** Whether an offered connection is accepted. */
    boolean isExpected(DirectBuffer note, int offset, int length) {
        // While registering it is the server of this process; later another server that was
        // handed the descriptor of a message and comes for its data.
        boolean isAwaited = isSeeking() && registration.hasRegistered;
        return (isAwaited || state == CONNECTED)
                && (length == 0 || job != null && ConnectNote.isOfJob(note, offset, length, job));
    }

    // ---- the end of a server

    /** A connection has ended. */
    void gone(long connection, long context, String reason) {
        if (isSeeking()) {
            if (context == ClientRegistration.CONTEXT_MASTER) {
                registration.onGone(connection, reason);
            }
        } else if (connection == server.connection() && state == CONNECTED) {
            onServerGone(reason);
        }
    }

    private void onServerGone(String reason) {
        String what =
                "%s%s"
                        .formatted(
                                server,
                                isServerStopping
                                        ? " has stopped"
                                        : " was lost" + (reason.isEmpty() ? "" : ": " + reason));
        if (settings.isReassigned()) {
            flight.moveAway();
            state = MOVING;
            registration.again(job, epochMs);
            settings.environment()
                    .errorHandler()
                    .onError(
                            Code.SERVER_UNREACHABLE.because(
                                    what + "; the master is asked for another"));
            return;
        }
        lose(
                new DartException(
                        isServerStopping ? Code.SERVER_STOPPING : Code.SERVER_UNREACHABLE, what));
    }

    /** For good: every open message fails, every later call says why. */
    private void lose(DartException why) {
        if (state == MOVING) {
            registration.end(0);
        }
        state = LOST;
        failure = why;
        settings.environment().events().peerLost(server.toString(), why.getMessage());
        boolean isStopped = why.code() == Code.SERVER_STOPPING;
        flight.failUnconfirmed(
                isStopped ? Code.SERVER_STOPPING : Code.SERVER_UNREACHABLE, why.getMessage());
    }

    // ---- the end

    void sayGoodbye() {
        if (state == CONNECTED) {
            records.goodbye(flight.lastSequence());
            transport.disconnect(server.connection());
        } else if (isSeeking()) {
            registration.disconnect();
        }
        state = LEAVING;
    }

    List<DartTicket> lost() {
        return flight.lost;
    }

    /** One that is refused, because a server does not answer, keeps no other open. */
    void close() {
        AutoCloseable closingInbox = inbox == null ? null : inbox::close;
        CloseHelper.closeAll(registration::close, outbox, flight::close, closingInbox);
    }
}
