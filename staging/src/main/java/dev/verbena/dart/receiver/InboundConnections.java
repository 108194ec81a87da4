package dev.verbena.dart.receiver;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.ByteStreams.Listener;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Counters;
import dev.verbena.staging.RareReports;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A receiver's connections: accepts them, gives each its turn, and keeps those that have not said
 * who they are from taking the places of servers. Owned by the receiver's agent.
 *
 * <p>Servers have {@code connectionsMax} places; strangers have as many again, each for {@code
 * helloTimeoutNs} only, and when these are all taken the one that came first has to go.
 */
final class InboundConnections {
    private final ReceiverEngine engine;
    private final ReceiverSettings settings;
    private final Listener listener;
    private final List<InboundSession> sessions = new ArrayList<>();
    private final RareReports reports;
    private final RareReports failures;
    private boolean isClosed;

    final AtomicLong accepted = new AtomicLong();
    final AtomicLong open = new AtomicLong();
    final AtomicLong strangersDropped = new AtomicLong();

    InboundConnections(ReceiverEngine engine, ReceiverSettings settings, Listener listener) {
        this.engine = engine;
        this.settings = settings;
        this.reports = new RareReports(settings.environment().errorHandler());
        this.failures = new RareReports(settings.environment().errorHandler());
        this.listener = listener;
    }

    int port() {
        return listener.port();
    }

    int doWork(long now) {
        int work = accept(now);
        for (int i = 0; i < sessions.size(); i++) {
            InboundSession session = sessions.get(i);
            work += doWork(session, now);
            if (session.isEnded) {
                sessions.remove(i--);
                open.lazySet(sessions.size());
            }
        }
        return work;
    }

    /** What goes wrong with one connection ends that one. */
    private int doWork(InboundSession session, long now) {
        try {
            return session.doWork(now, settings.silenceTimeoutNs());
        } catch (RuntimeException | AssertionError | LinkageError e) {
            failures.report(
                    now,
                    "connection from " + session.peer() + " ended: " + e,
                    text -> Code.TRANSFER_FAILED.because(text));
            session.end();
            return 1;
        }
    }

    private int accept(long now) {
        ByteStream stream = isClosed ? null : listener.accept();
        if (stream == null) {
            return 0;
        }
        makeRoom(now);
        sessions.add(new InboundSession(engine, stream, now));
        Counters.add(accepted, 1);
        open.lazySet(sessions.size());
        return 1;
    }

    private void makeRoom(long now) {
        int strangers = 0;
        int oldest = -1;
        for (int i = 0; i < sessions.size(); i++) {
            if (!sessions.get(i).isKnown()) {
                strangers++;
                oldest = oldest < 0 ? i : oldest;
            }
        }
        if (strangers < settings.connectionsMax()) {
            return;
        }
        InboundSession session = sessions.remove(oldest);
        dropped(session, now, "too many others have not said either who they are");
        session.end();
    }

    /** A connection that never said who it is goes. */
    void dropped(InboundSession session, long now, String why) {
        Counters.add(strangersDropped, 1);
        reportStranger(
                now,
                Code.TIMEOUT.because(
                        "connection from " + session.peer() + " ended before HELLO: " + why));
    }

    /** Strangers cannot fill the error log: one of them is reported in a second. */
    void reportStranger(long now, DartException e) {
        reports.report(now, e.getMessage(), text -> new DartException(e.code(), text));
    }

    /**
     * Whether one more server has a place, or this one takes that of its own earlier connection.
     *
     * @param replaced the earlier connection; null if there is none
     * @throws DartException SERVER_FULL if not
     */
    void admit(InboundSession session, StreamSession replaced) {
        int known = 0;
        for (int i = 0; i < sessions.size(); i++) {
            InboundSession other = sessions.get(i);
            known += other != replaced && other.isKnown() ? 1 : 0;
        }
        if (known >= settings.connectionsMax()) {
            throw Code.SERVER_FULL.because(
                    "receiver refuses %s: connectionsMax %s is reached",
                    session.peer(), settings.connectionsMax());
        }
    }

    /** Nothing more is accepted; those that are there are told why. */
    void stop(String why) {
        isClosed = true;
        listener.close();
        for (InboundSession session : sessions) {
            session.fail(FrameFlyweight.ERROR_STOPPED, why);
        }
    }

    void close() {
        isClosed = true;
        listener.close();
        for (InboundSession session : sessions) {
            session.end();
        }
        sessions.clear();
    }

    long nextDeadlineNs() {
        long deadline = ProtocolAgent.NO_DEADLINE;
        for (int i = 0; i < sessions.size(); i++) {
            deadline =
                    Math.min(deadline, sessions.get(i).nextDeadlineNs(settings.silenceTimeoutNs()));
        }
        return deadline;
    }
}
