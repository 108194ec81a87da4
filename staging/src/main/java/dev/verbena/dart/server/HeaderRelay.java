package dev.verbena.dart.server;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.ControlOutbox;
import dev.verbena.transport.Transport;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Hands headers on to the server that pulls in this one's place, in order. Owned by t1 of the
 * master.
 */
final class HeaderRelay {
    /** A record that waits for room; no more than clients have credits for, and a few. */
    private record Waiting(ServedClient client, boolean isLast, UnsafeBuffer record) {}

    private final ServerShared shared;
    private final ControlOutbox outbox;
    private final ControlFlyweight flyweight = new ControlFlyweight();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();

    HeaderRelay(ServerShared shared, ControlOutbox outbox) {
        this.shared = shared;
        this.outbox = outbox;
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
        UnsafeBuffer record = new UnsafeBuffer(new byte[length]);
        record.putBytes(0, header, offset, length);
        waiting.add(new Waiting(client, false, record));
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
        UnsafeBuffer record = new UnsafeBuffer(new byte[ControlFlyweight.LENGTH]);
        waiting.add(new Waiting(client, isLast, record));
        return flyweight.begin(record, 0, type, shared.job);
    }

    int doWork() {
        int work = 0;
        while (!waiting.isEmpty()) {
            Waiting one = waiting.peek();
            boolean isOfUse = one.isLast || one.client.state != ServedClient.GONE;
            if (isOfUse && one.client.delegate.isConnected) {
                long connection = one.client.delegate.connection;
                int answer = outbox.sendMade(one.record, one.record.capacity(), connection);
                if (answer == Transport.BACK_PRESSURED) {
                    break;
                }
            }
            waiting.poll();
            work++;
        }
        return work;
    }

    boolean isEmpty() {
        return waiting.isEmpty();
    }
}
