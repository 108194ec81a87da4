package dev.verbena.savime.server;

import dev.verbena.agent.ByteStreams;
import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.agent.Environment;
import dev.verbena.savime.link.TcpMessages;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.staging.Names;
import dev.verbena.staging.RareReports;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Clients that come by TCP. Data that they send go straight into their block's memory. */
final class TcpClients implements AutoCloseable {
    private static final int CLIENTS_MAX = 1024;

    private final Environment environment;
    private final Dispatch dispatch;
    private final Reception reception;
    private final ByteStreams.Listener listener;
    private final RareReports hostile;
    private final List<Client> clients = new ArrayList<>();
    private final long silenceNs;

    /** Listens from now on. */
    TcpClients(ServerSettings settings, Dispatch dispatch, Reception reception) {
        this.environment = settings.environment();
        this.dispatch = dispatch;
        this.reception = reception;
        this.silenceNs = 3_000_000L * settings.heartbeatMs();
        this.listener = environment.streams().listen(settings.listenHost(), settings.listenPort());
        this.hostile = new RareReports(environment.errorHandler());
    }

    int port() {
        return listener.port();
    }

    private final class Client implements TcpMessages.Handler {
        private final Connection connection;
        private final TcpMessages messages;

        Client(ByteStream stream, long nowNs) {
            connection = new Connection(false, nowNs);
            messages = new TcpMessages(stream, connection.out, this);
        }

        @Override
        public void onMessage(DirectBuffer buffer, int offset, int length) {
            dispatch.onMessage(connection, buffer, offset, length);
        }

        @Override
        public MutableDirectBuffer dataTarget(StgFlyweight header) {
            connection.heard(environment.nanoClock().nanoTime());
            return reception.dataTarget(connection, header);
        }

        @Override
        public void onData(StgFlyweight header) {
            reception.onData(connection, header);
        }

        int step(long nowNs) {
            int work = messages.read();
            work += reception.grantWaiting(connection);
            work += connection.sendNotifications();
            work += messages.write();
            if (connection.isOverrun) {
                messages.end("it does not read what it is sent");
            } else if (connection.isEnding && connection.out.isEmpty()) {
                messages.end("");
            } else if (nowNs - connection.heardNs - silenceNs > 0) {
                messages.end("it is silent");
            }
            return work;
        }
    }

    int doWork() {
        int work = 0;
        long now = environment.nanoClock().nanoTime();
        for (ByteStream stream = listener.accept(); stream != null; stream = listener.accept()) {
            work++;
            if (clients.size() == CLIENTS_MAX) {
                stream.close();
            } else {
                clients.add(new Client(stream, now));
            }
        }
        for (int i = clients.size() - 1; i >= 0; i--) {
            Client client = clients.get(i);
            try {
                work += client.step(now);
            } catch (IllegalArgumentException | IndexOutOfBoundsException e) {
                client.messages.end(e.getMessage());
            }
            if (client.messages.isEnded()) {
                work++;
                drop(i, now);
            }
        }
        return work;
    }

    private void drop(int index, long now) {
        Client client = clients.remove(index);
        boolean isExpected = client.connection.isEnding;
        client.messages.close();
        dispatch.lost(client.connection, now);
        if (!isExpected) {
            String what = "client " + client.messages.peer() + ": ";
            String why = Names.readable(client.messages.error());
            hostile.report(now, what + why, IllegalStateException::new);
        }
    }

    /** When a silent client is to be dropped. */
    long nextDeadlineNs(long nowNs) {
        return clients.isEmpty() ? Long.MAX_VALUE : nowNs + silenceNs / 3;
    }

    @Override
    public void close() {
        long now = environment.nanoClock().nanoTime();
        while (!clients.isEmpty()) {
            clients.get(0).connection.end();
            clients.get(0).messages.write();
            drop(0, now);
        }
        CloseHelper.close(listener);
    }
}
