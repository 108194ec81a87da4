package dev.verbena.savime.server;

import dev.verbena.agent.Environment;
import dev.verbena.savime.wire.MessageQueue;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.staging.bootstrap.ServicePublisher;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.staging.control.RecordServer;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/** Clients that come by a transport and write their blocks themselves. */
final class TransportClients
        implements RecordServer.Protocol<TransportClients.Client>, AutoCloseable {
    /** Name and version, in the file that says where the server is. */
    static final String PROTOCOL = "stg/1";

    private static final int SLOTS = 256;
    private static final int CLIENTS_MAX = 256;

    private final Environment environment;
    private final Transport transport;
    private final Dispatch dispatch;
    private final Reception reception;
    private final RecordOutbox outbox;
    private final RecordServer<Client> server;
    private final ServicePublisher publisher;
    private int work;

    static final class Client extends RecordServer.Peer {
        private final Connection connection;

        Client(long peer, long context, Connection connection) {
            super(peer, context);
            this.connection = connection;
        }
    }

    /**
     * Listens from now on.
     *
     * @param publisher closed by this
     */
    TransportClients(
            ServerSettings settings,
            Transport transport,
            Dispatch dispatch,
            Reception reception,
            ServicePublisher publisher) {
        this.environment = settings.environment();
        this.transport = transport;
        this.dispatch = dispatch;
        this.reception = reception;
        this.publisher = publisher;
        this.outbox = new RecordOutbox(transport, SLOTS, StgFlyweight.LENGTH_MAX, 0);
        this.server =
                new RecordServer<>(
                        transport, outbox, CLIENTS_MAX, this, environment.errorHandler());
    }

    @Override
    public Client connected(long connection, long context) {
        long now = environment.nanoClock().nanoTime();
        return new Client(connection, context, new Connection(true, now));
    }

    @Override
    public void onRecord(Client client, DirectBuffer buffer, int offset, int length) {
        dispatch.onMessage(client.connection, buffer, offset, length);
    }

    @Override
    public void onGone(Client client) {
        dispatch.lost(client.connection, environment.nanoClock().nanoTime());
    }

    int doWork() {
        work = server.poll() + publisher.doWork(transport.uri());
        server.forEach(this::step);
        return work;
    }

    private void step(Client client) {
        work += reception.grantWaiting(client.connection);
        work += client.connection.sendNotifications();
        if (client.connection.isOverrun) {
            server.end(client);
            return;
        }
        MessageQueue out = client.connection.out;
        while (!out.isEmpty()) {
            int at = outbox.next();
            if (at < 0) {
                return;
            }
            int length = out.length();
            outbox.buffer().putBytes(at, out.buffer(), out.at(), length);
            if (outbox.send(client.connection(), length) != Transport.ACCEPTED) {
                return;
            }
            work++;
            out.remove();
        }
        if (client.connection.isEnding) {
            server.end(client);
        }
    }

    boolean isPublished() {
        return publisher.isPublished();
    }

    long nextDeadlineNs() {
        return publisher.nextDeadlineNs();
    }

    @Override
    public void close() {
        publisher.close();
        server.forEach(this::step);
        server.close(() -> true);
        server.forEach(this::onGone);
        CloseHelper.close(outbox);
    }
}
