package dev.verbena.cli.flesnet;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.ByteOrder;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A process that writes rounds: a message to each receiver, in turn from another one for each
 * sender. One thread; allocates nothing while it measures.
 */
final class WriteSender implements AutoCloseable {
    private static final int POLL_LIMIT = 64;
    private static final long TIMEOUT_NS = 30_000_000_000L;
    private static final int CONTROL = 64;

    private final int index;
    private final WriteLoad load;
    private final Transport transport;
    private final RegisteredRegion payload;
    private final RegisteredRegion control;
    private final long[] connections;
    private final RemoteDescriptor[] targets;
    private final Events events = new Events();
    private int describedCount;
    private int goCount;
    private int outstanding;
    private String failure;

    WriteSender(String scheme, TransportContext context, int index, WriteLoad load, int receivers) {
        this.index = index;
        this.load = load;
        connections = new long[receivers];
        targets = new RemoteDescriptor[receivers];
        transport = Transports.open(scheme, context);
        int length = load.largest() + WriteLoad.SMALL;
        payload = transport.allocate(length, 0);
        payload.buffer(0, length).setMemory(0, length, WriteReceiver.valueOf(index));
        control = transport.allocate(CONTROL, 0);
    }

    /** Connects to all receivers; has their descriptors afterwards. */
    void connect(List<URI> receivers) {
        UnsafeBuffer hello = control.buffer(0, CONTROL);
        hello.putInt(0, index, ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < connections.length; i++) {
            connections[i] = transport.connect(receivers.get(i), hello, 0, 4, i, TIMEOUT_NS);
            if (connections[i] < 0) {
                throw new Messages.Failure(
                        "connect to %s answers %s", receivers.get(i), connections[i]);
            }
        }
        long deadlineNs = transport.nanoTime() + TIMEOUT_NS;
        while (describedCount < connections.length) {
            poll();
            requireTime(deadlineNs, "the receivers' descriptors");
        }
    }

    private void requireTime(long deadlineNs, String what) {
        if (transport.nanoTime() - deadlineNs >= 0) {
            throw new Messages.Failure("sender %s waits too long for %s", index, what);
        }
    }

    /**
     * Starts together with all other senders; a quarter of it, not counted, comes first.
     *
     * @return nanoseconds until the last write has completed
     */
    long measure(int size, boolean isMixed) {
        int batches = load.batches(size);
        barrier();
        write(size, isMixed, batches / 4 + 1);
        barrier();
        long beginNs = transport.nanoTime();
        write(size, isMixed, batches);
        return transport.nanoTime() - beginNs;
    }

    /** By the first receiver. */
    private void barrier() {
        int before = goCount;
        while (!isPosted(transport.send(connections[0], control, 0, 4, 0, 0))) {
            poll();
        }
        long deadlineNs = transport.nanoTime() + TIMEOUT_NS;
        while (goCount == before || outstanding > 0) {
            poll();
            requireTime(deadlineNs, "the other senders");
        }
    }

    private void write(int size, boolean isMixed, int batches) {
        for (int batch = 0; batch < batches; batch++) {
            for (int slot = 0; slot < WriteLoad.SLOTS; slot++) {
                round((long) slot * (load.largest() + WriteLoad.SMALL), size, isMixed);
            }
            while (outstanding > 0) {
                poll();
            }
        }
    }

    private void round(long at, int size, boolean isMixed) {
        int n = connections.length;
        for (int i = 0; i < n; i++) {
            int receiver = (index + i) % n;
            put(receiver, at, size);
            if (isMixed) {
                long behind = at + load.largest();
                put(receiver, behind, WriteLoad.DESCRIPTOR);
                put(receiver, behind + WriteLoad.DESCRIPTOR, WriteLoad.SYNC);
                put(receiver, behind + WriteLoad.DESCRIPTOR + WriteLoad.SYNC, WriteLoad.SYNC);
            }
        }
    }

    private void put(int receiver, long at, int length) {
        while (!isPosted(
                transport.put(
                        connections[receiver], payload, 0, targets[receiver], at, length, 0, 0))) {
            poll();
        }
    }

    private boolean isPosted(int answer) {
        if (answer == Transport.ACCEPTED) {
            outstanding++;
        } else if (answer != Transport.BACK_PRESSURED) {
            throw new Messages.Failure("an operation of sender %s answers %s", index, answer);
        }
        return answer == Transport.ACCEPTED;
    }

    private void poll() {
        if (transport.poll(events, POLL_LIMIT) == 0) {
            Thread.onSpinWait();
        }
        if (failure != null) {
            throw new Messages.Failure(failure);
        }
    }

    @Override
    public void close() {
        for (long connection : connections) {
            if (connection > 0) {
                transport.disconnect(connection);
            }
        }
        transport.poll(events, POLL_LIMIT);
        CloseHelper.closeAll(payload, control, transport);
    }

    private final class Events implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            outstanding--;
            if (status != Status.OK && failure == null) {
                failure = "sender %s: a write ends with %s".formatted(index, Status.name(status));
            }
        }

        /** The first message of a receiver says where its memory is, others open the barrier. */
        @Override
        public void onMessage(
                long connection,
                long receiver,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            if (targets[(int) receiver] != null) {
                goCount++;
                return;
            }
            targets[(int) receiver] = new RemoteDescriptor().decode(buffer, offset);
            describedCount++;
        }

        @Override
        public void onConnectFailed(long connection, long receiver, int status, String reason) {
            failure =
                    "sender %s cannot connect to receiver %s: %s"
                            .formatted(index, receiver, reason);
        }

        @Override
        public void onPeerLost(long connection, long receiver, String reason) {
            failure = "sender %s has lost receiver %s: %s".formatted(index, receiver, reason);
        }
    }
}
