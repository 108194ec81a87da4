package dev.verbena.examples.pic;

import dev.verbena.agent.JobGroup;
import dev.verbena.agent.JobGroupException;
import dev.verbena.agent.JobIdentity;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The exchange over a transport. Every process writes its values straight into the memory of
 * process 0 ({@code putNotify}), which adds them in the order of ranks and writes the sums into the
 * memory of the others.
 *
 * <p>Two slots are used in turn, so that a process that is one sum ahead overwrites nothing. Owned
 * by one thread, which also owns the transport. Waiting spins shortly, then sleeps.
 */
public final class TransportExchange implements PicExchange, AutoCloseable {
    /** Bytes of {@link RemoteDescriptor} and rank that a process shows when it connects. */
    private static final int HELLO_LENGTH = 8 + RemoteDescriptor.LENGTH;

    private static final int SPIN_COUNT = 200;
    private static final int POLL_LIMIT = 32;
    private static final long TRY_AGAIN_NS = 500_000;
    private static final int RIGHTS = RemoteDescriptor.REMOTE_WRITE;

    private final Transport transport;
    private final int rank;
    private final int processCount;
    private final int valueCount;
    private final int slotLength;
    private final long timeoutNs;
    private final RegisteredRegion inbox;
    private final RegisteredRegion outbox;
    private final UnsafeBuffer inboxBuffer;
    private final UnsafeBuffer outboxBuffer;
    private final long[] connections;
    private final RemoteDescriptor[] targets;
    private final int[] arrivals;
    private final Handler handler = new Handler();
    private int outstanding;
    private int sumCount;
    private String failure;
    private boolean isClosing;

    private TransportExchange(
            Transport transport, int rank, int processCount, int valueCount, long timeoutNs) {
        this.transport = transport;
        this.rank = rank;
        this.processCount = processCount;
        this.valueCount = valueCount;
        this.slotLength = Math.multiplyExact(valueCount, Long.BYTES);
        this.timeoutNs = timeoutNs;
        int slots = rank == 0 ? 2 * processCount : 2;
        this.inbox = transport.allocate((long) slots * slotLength, RIGHTS);
        int hellos = HELLO_LENGTH * processCount;
        this.outbox = transport.allocate(2L * slotLength + hellos, 0);
        this.inboxBuffer = inbox.buffer(0, slots * slotLength);
        this.outboxBuffer = outbox.buffer(0, 2 * slotLength + hellos);
        this.connections = new long[processCount];
        this.targets = new RemoteDescriptor[processCount];
        this.arrivals = new int[processCount];
    }

    /**
     * Connects all processes; every one of them calls this. Blocks until all are there.
     *
     * @param transport open, owned by the calling thread; not closed by this object
     * @param identity of this process
     * @param folder shared by all processes, in which they find each other
     * @param valueCount of every {@link #sum}
     * @param timeoutNs longest wait for another process, here and in every sum
     * @throws JobGroupException naming the processes that did not come
     * @throws IllegalStateException naming the process that came and was lost
     */
    public static TransportExchange connect(
            Transport transport,
            JobIdentity identity,
            Path folder,
            int valueCount,
            long timeoutNs) {
        TransportExchange exchange =
                new TransportExchange(
                        transport, identity.rank(), identity.size(), valueCount, timeoutNs);
        try {
            exchange.connect(identity, folder);
            return exchange;
        } catch (RuntimeException e) {
            exchange.isClosing = true;
            exchange.closeRegions();
            throw e;
        }
    }

    private void connect(JobIdentity identity, Path folder) {
        URI root = meet(identity, folder);
        if (rank != 0) {
            RemoteDescriptor results =
                    inbox.describe(0, inbox.length(), RIGHTS, new RemoteDescriptor());
            outboxBuffer.putInt(0, rank, ByteOrder.LITTLE_ENDIAN);
            outboxBuffer.putInt(4, valueCount, ByteOrder.LITTLE_ENDIAN);
            results.encode(outboxBuffer, 8);
            long connection = transport.connect(root, outboxBuffer, 0, HELLO_LENGTH, 0, timeoutNs);
            if (connection < 0) {
                throw new IllegalStateException(
                        "compute process " + rank + ": connect answers " + connection);
            }
            connections[0] = connection;
        }
        long deadlineNs = transport.nanoTime() + timeoutNs;
        while (!isComplete()) {
            await(deadlineNs, "connect");
        }
    }

    /** Waits for all processes; where process 0 is to be found. */
    private URI meet(JobIdentity identity, Path folder) {
        String own = "";
        if (rank == 0) {
            transport.listen();
            own = transport.uri().toString();
        }
        try (JobGroup group =
                JobGroup.join(identity, folder, own, timeoutNs, SystemNanoClock.INSTANCE)) {
            return URI.create(group.world().get(0).uri());
        }
    }

    private boolean isComplete() {
        if (rank != 0) {
            return targets[0] != null;
        }
        for (int peer = 1; peer < processCount; peer++) {
            if (targets[peer] == null || connections[peer] == 0) {
                return false;
            }
        }
        return outstanding == 0;
    }

    @Override
    public void sum(long[] values) {
        if (values.length != valueCount) {
            throw new IllegalArgumentException(
                    values.length + " values; this exchange was made for " + valueCount);
        }
        int slot = sumCount & 1;
        sumCount++;
        long deadlineNs = transport.nanoTime() + timeoutNs;
        if (rank == 0) {
            gather(values, slot, deadlineNs);
        } else {
            drain(deadlineNs);
            encode(values, slot);
            post(0, slot, deadlineNs);
            while (arrivals[0] - sumCount < 0) {
                await(deadlineNs, "sum " + sumCount);
            }
            decode(values, slot * slotLength, false);
        }
    }

    private void gather(long[] values, int slot, long deadlineNs) {
        for (int peer = 1; peer < processCount; peer++) {
            while (arrivals[peer] - sumCount < 0) {
                await(deadlineNs, "sum " + sumCount);
            }
            decode(values, (2 * peer + slot) * slotLength, true);
        }
        drain(deadlineNs);
        encode(values, slot);
        for (int peer = 1; peer < processCount; peer++) {
            post(peer, slot, deadlineNs);
        }
    }

    private void encode(long[] values, int slot) {
        int at = slot * slotLength;
        for (int i = 0; i < valueCount; i++) {
            outboxBuffer.putLong(at + i * Long.BYTES, values[i], ByteOrder.LITTLE_ENDIAN);
        }
    }

    private void decode(long[] values, int from, boolean add) {
        for (int i = 0; i < valueCount; i++) {
            long value = inboxBuffer.getLong(from + i * Long.BYTES, ByteOrder.LITTLE_ENDIAN);
            values[i] = add ? values[i] + value : value;
        }
    }

    private void post(int peer, int slot, long deadlineNs) {
        long from = (long) slot * slotLength;
        while (true) {
            int result =
                    transport.putNotify(
                            connections[peer],
                            outbox,
                            from,
                            targets[peer],
                            from,
                            slotLength,
                            sumCount,
                            peer,
                            0);
            if (result == Transport.ACCEPTED) {
                outstanding++;
                return;
            }
            if (result != Transport.BACK_PRESSURED) {
                throw lost(peer, "putNotify answers " + result);
            }
            // Nobody promises an event when it would be accepted: look again soon.
            long nowNs = transport.nanoTime();
            await(deadlineNs, nowNs + TRY_AGAIN_NS, "send sum " + sumCount + " and");
        }
    }

    /** Waits until the outbox may be written again. */
    private void drain(long deadlineNs) {
        while (outstanding > 0) {
            await(deadlineNs, "sum " + sumCount);
        }
    }

    private void await(long deadlineNs, String what) {
        await(deadlineNs, deadlineNs, what);
    }

    /** Waits for an event, or until {@code untilNs}; past the deadline it throws. */
    private void await(long deadlineNs, long untilNs, String what) {
        for (int i = 0; i < SPIN_COUNT; i++) {
            if (transport.poll(handler, POLL_LIMIT) > 0) {
                requireAlive();
                return;
            }
            Thread.onSpinWait();
        }
        requireAlive();
        if (transport.nanoTime() - deadlineNs >= 0) {
            throw new IllegalStateException(
                    "compute process " + rank + ": " + what + " is still waiting for " + missing());
        }
        transport.await(untilNs);
    }

    private void requireAlive() {
        if (failure != null) {
            throw new IllegalStateException(failure);
        }
    }

    private String missing() {
        StringBuilder names = new StringBuilder();
        for (int peer = 0; peer < processCount; peer++) {
            boolean isPeer = rank == 0 ? peer != 0 : peer == 0;
            if (isPeer && (targets[peer] == null || arrivals[peer] - sumCount < 0)) {
                names.append(names.isEmpty() ? "compute process " : ", ").append(peer);
            }
        }
        return names.isEmpty() ? "its own operations" : names.toString();
    }

    private IllegalStateException lost(int peer, String why) {
        return new IllegalStateException(
                "compute process " + rank + " lost compute process " + peer + ": " + why);
    }

    /** Waits for what it posted, then disconnects and frees its memory. Leaves the transport. */
    @Override
    public void close() {
        if (isClosing) {
            return;
        }
        isClosing = true;
        long deadlineNs = transport.nanoTime() + timeoutNs;
        while (outstanding > 0 && transport.nanoTime() - deadlineNs < 0) {
            if (transport.poll(handler, POLL_LIMIT) == 0) {
                transport.await(deadlineNs);
            }
        }
        for (long connection : connections) {
            if (connection > 0) {
                transport.disconnect(connection);
            }
        }
        closeRegions();
    }

    private void closeRegions() {
        outbox.close();
        inbox.close();
    }

    /** Events of all connections. */
    private final class Handler implements TransportHandler {
        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            outstanding--;
            if (status != Status.OK && failure == null && !isClosing) {
                failure = lost((int) context, "put ends with " + Status.name(status)).getMessage();
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            int peerRank =
                    length == HELLO_LENGTH ? data.getInt(offset, ByteOrder.LITTLE_ENDIAN) : -1;
            boolean isWelcome =
                    rank == 0
                            && peerRank > 0
                            && peerRank < processCount
                            && targets[peerRank] == null
                            && data.getInt(offset + 4, ByteOrder.LITTLE_ENDIAN) == valueCount;
            if (!isWelcome) {
                transport.reject(connection);
                return;
            }
            RemoteDescriptor results = new RemoteDescriptor();
            try {
                results.decode(data, offset + 8);
            } catch (IllegalArgumentException e) {
                transport.reject(connection);
                return;
            }
            targets[peerRank] = results;
            transport.accept(connection, peerRank);
        }

        @Override
        public void onConnected(long connection, long context) {
            if (rank != 0) {
                return;
            }
            int peer = (int) context;
            connections[peer] = connection;
            int at = 2 * slotLength + peer * HELLO_LENGTH;
            RemoteDescriptor slots =
                    inbox.describe(
                            2L * peer * slotLength,
                            2L * slotLength,
                            RIGHTS,
                            new RemoteDescriptor());
            slots.encode(outboxBuffer, at);
            int result =
                    transport.send(connection, outbox, at, RemoteDescriptor.LENGTH, context, 0);
            if (result != Transport.ACCEPTED) {
                failure = lost(peer, "send answers " + result).getMessage();
                return;
            }
            outstanding++;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            if (rank != 0 && targets[0] == null && length == RemoteDescriptor.LENGTH) {
                targets[0] = new RemoteDescriptor().decode(buffer, offset);
            }
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            if (regionId == inbox.id() && context >= 0 && context < processCount) {
                arrivals[(int) context] = tag;
            }
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            failure = lost((int) context, Status.name(status) + ", " + reason).getMessage();
        }

        @Override
        public void onDisconnected(long connection, long context) {
            gone(context, "it ended before the others");
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            gone(context, reason);
        }

        private void gone(long context, String why) {
            connections[(int) context] = 0;
            boolean isDone = arrivals[(int) context] - sumCount >= 0 && sumCount > 0;
            if (!isClosing && !isDone && failure == null) {
                failure = lost((int) context, why).getMessage();
            }
        }
    }

    /** For messages: a view of who has arrived. */
    @Override
    public String toString() {
        return "TransportExchange{rank=" + rank + ", arrivals=" + Arrays.toString(arrivals) + "}";
    }
}
