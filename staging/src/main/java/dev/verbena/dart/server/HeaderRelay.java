package dev.verbena.dart.server;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import java.util.UUID;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Hands headers on to the server that pulls in this one's place, in order. Owned by t1 of the
 * master.
 */
final class HeaderRelay implements AutoCloseable {
    /** Contexts of the sends: above those of replies. */
    static final long CONTEXT_BASE = 1L << 25;

    private static final int SLOTS = 32;
    private static final int SLOT_LENGTH = ControlFlyweight.MESSAGE_LENGTH_MAX;

    /** A record that waits for a slot; no more than clients have credits for, and a few. */
    private record Waiting(ServedClient client, boolean isLast, byte[] bytes) {}

    private final ServerShared shared;
    private final Transport transport;
    private final ControlFlyweight flyweight = new ControlFlyweight();
    private final RegisteredRegion region;
    private final UnsafeBuffer memory;
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final int[] free = new int[SLOTS];
    private int freeCount;

    HeaderRelay(ServerShared shared, Transport transport) {
        this.shared = shared;
        this.transport = transport;
        this.region = transport.allocate((long) SLOTS * SLOT_LENGTH, 0);
        this.memory = region.buffer(0, SLOTS * SLOT_LENGTH);
        for (int i = 0; i < SLOTS; i++) {
            free[freeCount++] = i;
        }
    }

    /**
     * Hands a header on.
     *
     * @param resumeAt number at which the client's messages begin, should it be the first
     */
    void add(ServedClient client, long resumeAt, DirectBuffer header, int offset, int length) {
        if (client.isDelegatePending) {
            client.introduced();
            introduce(client, resumeAt);
        }
        byte[] bytes = new byte[length];
        header.getBytes(offset, bytes);
        waiting.add(new Waiting(client, false, bytes));
    }

    private void introduce(ServedClient client, long resumeAt) {
        record(client, false, ControlFlyweight.FORWARD)
                .registration()
                .write(
                        ControlFlyweight.ROLE_DELEGATED,
                        client.creditsGranted,
                        client.rank,
                        client.applicationId,
                        client.uri)
                .registration()
                .assigned(client.id, client.registration)
                .end();
        record(client, false, ControlFlyweight.RESUME)
                .resume(client.id, resumeAt, shared.epochMs)
                .end();
    }

    /** The client has left: the delegate need not know it any more. */
    void farewell(ServedClient client) {
        if (!client.isDelegatePending) {
            record(client, true, ControlFlyweight.GOODBYE)
                    .goodbye(client.id, client.lastSequence, ControlFlyweight.RESULT_OK)
                    .end();
        }
    }

    void suspend(ServedClient client, boolean isSuspended) {
        if (!client.isDelegatePending) {
            record(client, false, ControlFlyweight.SUSPEND).suspend(client.id, isSuspended).end();
        }
    }

    /** Begins a record that will be sent after those before. */
    private ControlFlyweight record(ServedClient client, boolean isLast, int type) {
        byte[] bytes = new byte[ControlFlyweight.LENGTH];
        waiting.add(new Waiting(client, isLast, bytes));
        UUID job = shared.job;
        return flyweight.begin(new UnsafeBuffer(bytes), 0, type, job);
    }

    int doWork() {
        int work = 0;
        while (!waiting.isEmpty() && freeCount > 0) {
            Waiting one = waiting.peek();
            boolean isOfUse = one.isLast || one.client.state != ServedClient.GONE;
            if (isOfUse && one.client.delegate.isConnected) {
                int slot = free[freeCount - 1];
                memory.putBytes(slot * SLOT_LENGTH, one.bytes);
                int answer =
                        transport.send(
                                one.client.delegate.connection,
                                region,
                                (long) slot * SLOT_LENGTH,
                                one.bytes.length,
                                CONTEXT_BASE + slot,
                                0);
                if (answer == Transport.BACK_PRESSURED) {
                    break;
                }
                if (answer == Transport.ACCEPTED) {
                    freeCount--;
                }
            }
            waiting.poll();
            work++;
        }
        return work;
    }

    /** Whether this completion is one of a relayed header; if so it is dealt with. */
    boolean onCompletion(long context) {
        if (context < CONTEXT_BASE || context >= CONTEXT_BASE + SLOTS) {
            return false;
        }
        free[freeCount++] = (int) (context - CONTEXT_BASE);
        return true;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }

    boolean isQuiet() {
        return freeCount == SLOTS;
    }

    @Override
    public void close() {
        region.close();
    }
}
