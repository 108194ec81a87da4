package dev.verbena.cli.sim;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.nsim.program.Performer;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.collections.LongHashSet;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One process of a program that is measured: a transport, a connection to every other process, a
 * region that all write to and read from. What travels has no meaning, only its length. One thread.
 */
final class SimNetwork implements Performer, TransportHandler, AutoCloseable {
    private static final int HELLO_LENGTH = 4 + RemoteDescriptor.LENGTH;
    private static final int SYNC_TAG = TAGS;
    private static final int POLL_LIMIT = 64;
    private static final int IDLE_POLLS_MAX = 2_000;
    private static final long SLEEP_NS = 1_000_000L;
    private static final long TIMEOUT_NS = 60_000_000_000L;
    private static final long NO_NUMBER = -1;

    private final int rank;
    private final int size;
    private final Transport transport;
    private final RegisteredRegion region;
    private final RegisteredRegion control;
    private final UnsafeBuffer hello;
    private final long[] connections;
    private final RemoteDescriptor[] peers;
    private final Long2LongHashMap byTag = new Long2LongHashMap(0);
    private final Long2LongHashMap bySource = new Long2LongHashMap(0);
    private final Long2LongHashMap synchronizations = new Long2LongHashMap(0);
    private final LongHashSet unfinished = new LongHashSet();
    private int known;
    private long started;
    private int outstanding;
    private boolean isEnding;
    private String failure;

    SimNetwork(String scheme, int rank, int size, long bytesMax) {
        this.rank = rank;
        this.size = size;
        transport =
                Transports.open(
                        scheme,
                        new TransportContext()
                                .messageLengthMax(128)
                                .creditsPerConnection(4)
                                .receiveSlotCount(4 * size)
                                .connectionsMax(2 * size)
                                .peerTimeoutNs(TIMEOUT_NS));
        region = transport.allocate(Math.max(64, bytesMax), RemoteDescriptor.REMOTE_ALL);
        region.buffer(0, 64).setMemory(0, 64, (byte) rank);
        control = transport.allocate(64, 0);
        hello = control.buffer(0, 64);
        connections = new long[size];
        peers = new RemoteDescriptor[size];
        hello.putInt(0, rank, ByteOrder.LITTLE_ENDIAN);
        region.describe(0, region.length(), RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                .encode(hello, 4);
        transport.listen();
    }

    URI uri() {
        return transport.uri();
    }

    /** Connects to those of higher rank, waits for those of lower. */
    void connect(URI[] uris) {
        for (int to = rank + 1; to < size; to++) {
            long handle = transport.connect(uris[to], hello, 0, HELLO_LENGTH, to, TIMEOUT_NS);
            if (handle < 0) {
                throw new Messages.Failure("connect to rank " + to + " answers " + handle);
            }
        }
        long deadlineNs = deadline();
        for (int idle = 0; known < size - 1; ) {
            idle = wait(idle, deadlineNs, "the other processes to connect");
        }
    }

    private long deadline() {
        return transport.nanoTime() + TIMEOUT_NS;
    }

    /** One turn of waiting: polls for a while, then sleeps; others may need the processor. */
    private int wait(int idle, long deadlineNs, String what) {
        int next = transport.poll(this, POLL_LIMIT) > 0 ? 0 : idle + 1;
        if (failure != null) {
            throw new Messages.Failure(failure);
        }
        if (next > IDLE_POLLS_MAX) {
            transport.await(transport.nanoTime() + SLEEP_NS);
            if (transport.nanoTime() - deadlineNs > 0) {
                throw new Messages.Failure("rank " + rank + " timed out waiting for " + what);
            }
        } else {
            Thread.onSpinWait();
        }
        return next;
    }

    /** Lets no process go on before all are here. */
    void synchronize() {
        for (int distance = 1; distance < size; distance *= 2) {
            put((rank + distance) % size, 8, SYNC_TAG);
            int from = (rank + size - distance) % size;
            take(synchronizations, from, "rank " + from);
        }
    }

    /** Forgets what was counted, before the next run. */
    void reset() {
        completeAll();
        started = 0;
        byTag.clear();
        bySource.clear();
    }

    @Override
    public void compute(long picoseconds) {
        long endNs = System.nanoTime() + picoseconds / 1000;
        while (System.nanoTime() - endNs < 0) {
            Thread.onSpinWait();
        }
    }

    private long number(int tag) {
        return tag >= SYNC_TAG ? NO_NUMBER : started++;
    }

    @Override
    public void put(int to, long bytes, int tag) {
        long number = number(tag);
        long deadlineNs = deadline();
        int idle = 0;
        while (!isAccepted(
                transport.putNotify(
                        connections[to], region, 0, peers[to], 0, bytes, tag, number, 0))) {
            idle = wait(idle, deadlineNs, "room for a put to rank " + to);
        }
        note(number);
    }

    @Override
    public void get(int from, long bytes) {
        long number = number(0);
        long deadlineNs = deadline();
        int idle = 0;
        while (!isAccepted(
                transport.get(connections[from], region, 0, peers[from], 0, bytes, number, 0))) {
            idle = wait(idle, deadlineNs, "room for a get from rank " + from);
        }
        note(number);
    }

    private boolean isAccepted(int result) {
        if (result == Transport.ACCEPTED) {
            outstanding++;
            return true;
        }
        if (result != Transport.BACK_PRESSURED) {
            throw new Messages.Failure("an operation of rank " + rank + " answers " + result);
        }
        return false;
    }

    private void note(long number) {
        if (number != NO_NUMBER) {
            unfinished.add(number);
        }
    }

    @Override
    public void poll(int tag) {
        take(byTag, tag, "a put with tag " + tag);
    }

    @Override
    public void poll(int from, int tag) {
        take(bySource, (long) from << 32 | tag, "a put of rank " + from + " with tag " + tag);
    }

    private void take(Long2LongHashMap counts, long key, String what) {
        long deadlineNs = deadline();
        for (int idle = 0; counts.get(key) == 0; ) {
            idle = wait(idle, deadlineNs, what);
        }
        long left = counts.get(key) - 1;
        if (left == 0) {
            counts.remove(key); // the map cannot hold a 0
        } else {
            counts.put(key, left);
        }
    }

    @Override
    public void complete(int number) {
        long deadlineNs = deadline();
        for (int idle = 0; unfinished.contains(number); ) {
            idle = wait(idle, deadlineNs, "completion " + number);
        }
    }

    @Override
    public void completeAll() {
        long deadlineNs = deadline();
        for (int idle = 0; !unfinished.isEmpty(); ) {
            idle = wait(idle, deadlineNs, unfinished.size() + " completions");
        }
    }

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        if (status != Status.OK && !isEnding) {
            failure = "an operation of rank " + rank + " ends with " + Status.name(status);
        }
        outstanding--;
        unfinished.remove(context);
    }

    @Override
    public void onNotify(
            long connection, long context, int tag, long regionId, long offset, long length) {
        if (tag == SYNC_TAG) {
            synchronizations.put(context, synchronizations.get(context) + 1);
            return;
        }
        byTag.put(tag, byTag.get(tag) + 1);
        long key = context << 32 | tag;
        bySource.put(key, bySource.get(key) + 1);
    }

    @Override
    public void onConnectRequest(
            long connection, URI address, DirectBuffer data, int offset, int length) {
        int from = length == HELLO_LENGTH ? data.getInt(offset, ByteOrder.LITTLE_ENDIAN) : -1;
        if (from < 0 || from >= rank || connections[from] != 0) {
            transport.reject(connection);
            return;
        }
        connections[from] = connection;
        peers[from] = new RemoteDescriptor().decode(data, offset + 4);
        transport.accept(connection, from);
    }

    @Override
    public void onConnected(long connection, long context) {
        int peer = (int) context;
        if (peer > rank) {
            connections[peer] = connection;
            return;
        }
        int result = transport.send(connection, control, 0, HELLO_LENGTH, NO_NUMBER, 0);
        if (result != Transport.ACCEPTED) {
            failure = "rank " + rank + " cannot answer rank " + peer + ": " + result;
        }
        outstanding++;
        known++;
    }

    @Override
    public void onMessage(
            long connection, long context, DirectBuffer buffer, int offset, int length, long t) {
        int from = (int) context;
        if (length == HELLO_LENGTH && peers[from] == null) {
            peers[from] = new RemoteDescriptor().decode(buffer, offset + 4);
            known++;
        }
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        failure = "rank " + rank + " cannot connect: " + Status.name(status) + ", " + reason;
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        if (!isEnding) {
            failure = "rank " + context + " was lost: " + reason;
        }
    }

    /**
     * After the last {@link #synchronize}: what this process started has ended, also what others
     * wait for, and from now on they may be gone.
     */
    void ending() {
        waitForAll();
        isEnding = true;
    }

    private void waitForAll() {
        long deadlineNs = deadline();
        for (int idle = 0; outstanding > 0 && failure == null; ) {
            idle = wait(idle, deadlineNs, outstanding + " operations");
        }
    }

    @Override
    public void close() {
        waitForAll();
        control.close();
        region.close();
        transport.close();
    }
}
