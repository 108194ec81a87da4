package dev.verbena.staging.proof;

import dev.verbena.agent.Environment;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.staging.control.RecordClient;
import dev.verbena.staging.control.RecordOutbox;
import dev.verbena.transport.Transport;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

/** Announces messages until they are saved, again to each service that comes. One thread. */
final class ProofClient implements RecordClient.Protocol, AutoCloseable {
    static final int LENGTH_MAX = 64 * 1024;
    private static final String PROTOCOL = ProofService.PROTOCOL;
    private static final int WINDOW = ProofService.WINDOW;

    final RecordClient link;
    long savedCount;
    private final int client;
    private final Transport transport;
    private final RecordOutbox outbox;
    private final RegisteredRegion region;
    private final RemoteDescriptor descriptor = new RemoteDescriptor();

    /** By slot: sequence of a message that is not saved, 0 for none, and its length. */
    private final long[] unsaved = new long[WINDOW];

    private final int[] lengths = new int[WINDOW];
    private long last;
    private long announced;

    ProofClient(Environment environment, Transport transport, String path, int client) {
        this.client = client;
        this.transport = transport;
        outbox = new RecordOutbox(transport, 16, ProofRecord.LENGTH, 0);
        region = transport.allocate((long) WINDOW * LENGTH_MAX, RemoteDescriptor.REMOTE_READ);
        link =
                new RecordClient(
                        environment, transport, outbox, path, PROTOCOL, 1_000_000_000, this);
    }

    /** Copies a message; false: as many as may be are not saved yet. */
    boolean offer(DirectBuffer buffer, int length) {
        int slot = slot(last + 1);
        if (unsaved[slot] != 0) {
            return false;
        }
        region.buffer((long) slot * LENGTH_MAX, length).putBytes(0, buffer, 0, length);
        lengths[slot] = length;
        unsaved[slot] = ++last;
        return true;
    }

    private static int slot(long sequence) {
        return (int) (sequence % WINDOW);
    }

    int doWork() {
        int work = link.doWork();
        while (link.isConnected() && announced < last && announce(announced + 1)) {
            announced++;
        }
        return work;
    }

    private boolean announce(long sequence) {
        return unsaved[slot(sequence)] != sequence || send(ProofRecord.ANNOUNCE, sequence);
    }

    private boolean send(int type, long sequence) {
        int slot = slot(sequence);
        region.describe(
                (long) slot * LENGTH_MAX, LENGTH_MAX, RemoteDescriptor.REMOTE_READ, descriptor);
        return new ProofRecord(type, client, sequence, lengths[slot])
                .send(outbox, link.connection(), descriptor);
    }

    @Override
    public boolean askIfAlive() {
        return send(ProofRecord.HEARTBEAT, 0);
    }

    @Override
    public void onConnected(long connection) {
        announced = Math.max(0, last - WINDOW);
    }

    @Override
    public void onRecord(DirectBuffer buffer, int at, int length) {
        ProofRecord record = ProofRecord.read(buffer, at, length);
        int slot = slot(record.sequence());
        if (record.type() == ProofRecord.SAVED && unsaved[slot] == record.sequence()) {
            unsaved[slot] = 0;
            savedCount++;
        }
    }

    @Override
    public void close() {
        CloseHelper.closeAll(link, outbox, region, transport);
    }
}
