package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/**
 * A process whose memory senders write into: it takes no part in writes, and holds the senders'
 * barrier if they ask it to. One thread.
 */
final class WriteReceiver implements AutoCloseable {
    private static final int POLL_LIMIT = 64;
    private static final int IDLE_POLLS_MAX = 10_000;
    private static final long SLEEP_NS = 100_000_000L;

    private final int senders;
    private final WriteLoad load;
    private final Transport transport;
    private final RegisteredRegion inbox;
    private final RegisteredRegion control;
    private final long[] connections;
    private final Events events = new Events();

    /** A sender that waits for a message. */
    private final boolean[] isOwed;

    private int goneCount;
    private int readyCount;

    WriteReceiver(String scheme, TransportContext context, int senders, WriteLoad load) {
        this.senders = senders;
        this.load = load;
        connections = new long[senders];
        isOwed = new boolean[senders];
        transport = Transports.open(scheme, context);
        inbox =
                transport.allocate(
                        (long) senders * load.partLength(), RemoteDescriptor.REMOTE_WRITE);
        control = transport.allocate((long) senders * RemoteDescriptor.LENGTH, 0);
        transport.listen();
    }

    URI uri() {
        return transport.uri();
    }

    /**
     * Serves until all senders have come and gone.
     *
     * @throws Messages.Failure if bytes are not those that a sender writes
     */
    void serve() {
        int idlePolls = 0;
        while (goneCount < senders) {
            if (transport.poll(events, POLL_LIMIT) > 0) {
                idlePolls = 0;
            } else if (++idlePolls > IDLE_POLLS_MAX) {
                transport.await(transport.nanoTime() + SLEEP_NS);
            } else {
                Thread.onSpinWait();
            }
            pay();
        }
        check();
    }

    private void check() {
        for (int sender = 0; sender < senders; sender++) {
            DirectBuffer part = inbox.buffer((long) sender * load.partLength(), load.partLength());
            byte value = valueOf(sender);
            if (part.getByte(0) != value || part.getByte(load.largest() - 1) != value) {
                throw new Messages.Failure("damaged bytes of sender %s", sender);
            }
        }
    }

    /** All bytes that a sender writes. */
    static byte valueOf(int sender) {
        return (byte) (sender + 1);
    }

    /** Where its memory is; a barrier sends it again, for the sender only counts. */
    private void describe(int sender) {
        inbox.describe(
                        (long) sender * load.partLength(),
                        load.partLength(),
                        RemoteDescriptor.REMOTE_WRITE,
                        new RemoteDescriptor())
                .encode(
                        control.buffer(
                                (long) sender * RemoteDescriptor.LENGTH, RemoteDescriptor.LENGTH),
                        0);
        isOwed[sender] = true;
    }

    /** Sends what is owed, as far as it is accepted. */
    private void pay() {
        for (int sender = 0; sender < senders; sender++) {
            long at = (long) sender * RemoteDescriptor.LENGTH;
            isOwed[sender] =
                    isOwed[sender]
                            && transport.send(
                                            connections[sender],
                                            control,
                                            at,
                                            RemoteDescriptor.LENGTH,
                                            0,
                                            0)
                                    != Transport.ACCEPTED;
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(inbox, control, transport);
    }

    private final class Events implements TransportHandler {
        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            int sender = length < 4 ? -1 : data.getInt(offset, ByteOrder.LITTLE_ENDIAN);
            if (sender < 0 || sender >= senders || connections[sender] != 0) {
                transport.reject(connection);
                return;
            }
            connections[sender] = connection;
            transport.accept(connection, sender);
        }

        @Override
        public void onConnected(long connection, long sender) {
            describe((int) sender);
        }

        /** A sender is ready; the last one lets all go. */
        @Override
        public void onMessage(
                long connection,
                long sender,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            if (++readyCount == senders) {
                readyCount = 0;
                Arrays.fill(isOwed, true);
            }
        }

        @Override
        public void onDisconnected(long connection, long sender) {
            goneCount++;
        }

        @Override
        public void onPeerLost(long connection, long sender, String reason) {
            throw new Messages.Failure("sender %s is lost: %s", sender, reason);
        }
    }
}
