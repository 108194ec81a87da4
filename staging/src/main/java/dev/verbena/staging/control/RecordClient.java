package dev.verbena.staging.control;

import dev.verbena.agent.Environment;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.staging.Heartbeat;
import dev.verbena.staging.LinkBackOff;
import dev.verbena.staging.bootstrap.ServiceAddress;
import dev.verbena.staging.bootstrap.ServiceFile;
import dev.verbena.transport.Transport;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The side of a protocol that connects: looks for a service that lives, connects, asks whether it
 * lives after a while of silence, and begins anew, later and later, when the service cannot be
 * reached or is lost. Never waits. Owned by the transport's thread.
 */
public final class RecordClient implements AutoCloseable {
    private static final long CONNECT_TIMEOUT_NS = 2_000_000_000L;
    private static final int POLL_LIMIT = 64;
    private static final int TIMEOUT_HEARTBEATS = 3;

    private enum State {
        LOOKING,
        CONNECTING,
        CONNECTED
    }

    private final Transport transport;
    private final RecordOutbox outbox;
    private final NanoClock clock;
    private final String protocolName;
    private final Protocol protocol;
    private final ServiceFile file;
    private final LinkBackOff backOff;
    private final Heartbeat heartbeat;
    private final long heartbeatNs;
    private final Events events = new Events();
    private final UnsafeBuffer noData = new UnsafeBuffer(new byte[0]);
    private State state = State.LOOKING;
    private long connection;
    private ServiceAddress service;
    private String whyNot = "";

    /** What a protocol does. */
    public interface Protocol {
        /** Records can be sent; this service has been told nothing yet. */
        void onConnected(long connection);

        /** A record of the service. */
        void onRecord(DirectBuffer buffer, int offset, int length);

        /** Sends a record that the service answers; false: not now. */
        boolean askIfAlive();

        /** An operation has completed that is not the outbox's. */
        default void onCompletion(long context, int status) {}
    }

    /**
     * Begins to look with the first {@link #doWork}.
     *
     * @param transport not closed by this
     * @param outbox from which the protocol sends; not closed by this
     * @param path of the service's file
     * @param protocolName name and version, see {@link ServiceAddress}
     * @param heartbeatNs silence after which the service is asked whether it lives; it counts as
     *     lost when it does not answer for three times as long
     */
    public RecordClient(
            Environment environment,
            Transport transport,
            RecordOutbox outbox,
            String path,
            String protocolName,
            long heartbeatNs,
            Protocol protocol) {
        this.transport = transport;
        this.outbox = outbox;
        this.clock = environment.nanoClock();
        this.protocolName = protocolName;
        this.protocol = protocol;
        this.file = new ServiceFile(environment, path, ServiceAddress.LENGTH_MAX);
        this.backOff = new LinkBackOff(environment.random("record-client"), clock.nanoTime());
        this.heartbeat = new Heartbeat(TIMEOUT_HEARTBEATS * heartbeatNs);
        this.heartbeatNs = heartbeatNs;
    }

    /** Takes what has come, connects and asks as far as that is due; work done. */
    public int doWork() {
        int work = Math.max(0, transport.poll(events, POLL_LIMIT));
        long now = clock.nanoTime();
        if (state == State.LOOKING && now - backOff.nextTryNs() >= 0) {
            backOff.failed(now);
            work += connect();
        } else if (state == State.CONNECTED && heartbeat.isOver(now)) {
            end("it does not answer");
            work++;
        } else if (state == State.CONNECTED && heartbeat.isDue(now) && protocol.askIfAlive()) {
            heartbeat.asked(now);
            work++;
        }
        return work;
    }

    private int connect() {
        service = find();
        if (service == null) {
            return 0;
        }
        connection = transport.connect(service.url(), noData, 0, 0, 0, CONNECT_TIMEOUT_NS);
        if (connection > 0) {
            state = State.CONNECTING;
        } else {
            whyNot = "connect to " + service.url() + " answered " + connection;
        }
        return 1;
    }

    private ServiceAddress find() {
        String text = file.readCurrent();
        whyNot = file.whyNot();
        if (text == null) {
            return null;
        }
        try {
            ServiceAddress found = ServiceAddress.parse(text, protocolName);
            String scheme = transport.uri().getScheme();
            if (found.url().getScheme().equals(scheme)) {
                return found;
            }
            whyNot = file.path() + " names " + found.url() + ", this process uses " + scheme;
        } catch (IllegalArgumentException e) {
            whyNot = file.path() + " is refused: " + e.getMessage();
        }
        return null;
    }

    /** Gives the connection up, and looks for another one: the transport tells only the service. */
    public void end(String reason) {
        transport.disconnect(connection);
        gone(connection, reason);
    }

    private void gone(long which, String reason) {
        if (which == connection && state != State.LOOKING) {
            state = State.LOOKING;
            whyNot = "no connection to " + service.url() + ": " + reason;
        }
    }

    /** Whether records can be sent. */
    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** The present connection. */
    public long connection() {
        return connection;
    }

    /** Why there is no connection. */
    public String whyNot() {
        return whyNot;
    }

    /** When {@link #doWork} has something to do although nothing comes. */
    public long nextDeadlineNs() {
        long untilNs = heartbeat.untilNs(clock.nanoTime());
        return switch (state) {
            case LOOKING -> backOff.nextTryNs();
            case CONNECTING -> ProtocolAgent.NO_DEADLINE;
            case CONNECTED -> untilNs == Long.MAX_VALUE ? untilNs : clock.nanoTime() + untilNs;
        };
    }

    /** Disconnects. */
    @Override
    public void close() {
        if (state != State.LOOKING) {
            transport.disconnect(connection);
        }
        file.close();
    }

    private final class Events implements ConnectionEnds {
        @Override
        public void onConnected(long which, long context) {
            if (which == connection) {
                state = State.CONNECTED;
                backOff.reset();
                heartbeat.begin(clock.nanoTime(), heartbeatNs);
                protocol.onConnected(which);
            }
        }

        @Override
        public void onMessage(
                long which, long context, DirectBuffer buffer, int offset, int length, long token) {
            if (which == connection && state == State.CONNECTED) {
                heartbeat.heard(clock.nanoTime());
                protocol.onRecord(buffer, offset, length);
            }
        }

        @Override
        public void onCompletion(long which, int operation, long context, int status, long value) {
            if (!outbox.onCompletion(context)) {
                protocol.onCompletion(context, status);
            }
        }

        @Override
        public void onGone(long which, long context, String reason) {
            gone(which, reason);
        }
    }
}
