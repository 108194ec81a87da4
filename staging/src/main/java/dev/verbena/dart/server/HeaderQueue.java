package dev.verbena.dart.server;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import java.util.ArrayDeque;
import org.agrona.DirectBuffer;

/**
 * Messages whose data are not all asked for, in the order in which their headers came; those of
 * clients that asked for a pause are kept with these. Pooled. Owned by t1.
 */
final class HeaderQueue {
    private final ServerShared shared;
    private final ArrayDeque<PullMessage> parked = new ArrayDeque<>();
    private final ArrayDeque<PullMessage> pool = new ArrayDeque<>();

    /** Messages of clients that asked for a pause. */
    int suspendedCount;

    HeaderQueue(ServerShared shared) {
        this.shared = shared;
    }

    /**
     * Keeps a header that was checked, until its data can be pulled.
     *
     * @throws DartException MALFORMED if its metadata or descriptor is none
     */
    void park(ServedClient client, ControlFlyweight header, DirectBuffer buffer, int metadata) {
        PullMessage message = fromPool();
        try {
            check(header, buffer, metadata);
            message.begin(client, header, buffer, metadata);
        } catch (DartException e) {
            free(message);
            throw e;
        }
        parked.add(message);
        show();
    }

    /** What the receiver would refuse must not get into the stream, where it held up the rest. */
    private static void check(ControlFlyweight header, DirectBuffer buffer, int metadata) {
        int available = header.metadataLength();
        int length = MetadataFlyweight.check(buffer, metadata, available);
        long payload = MetadataFlyweight.payloadLength(buffer, metadata);
        if (length != available || payload != header.length()) {
            throw Code.MALFORMED.because(
                    "header of message %s: %s bytes of metadata and %s of payload, but its "
                            + "metadata block says %s and %s",
                    header.sequence(), available, header.length(), length, payload);
        }
    }

    /**
     * Tells the receiver that a client is there, or was lost, behind all of its messages that wait.
     *
     * @param kind {@link FrameFlyweight#CLIENT_HERE} or {@link FrameFlyweight#CLIENT_LOST}
     */
    void announce(ServedClient client, int kind) {
        if (shared.isStopRequested || client.control != null) {
            return;
        }
        PullMessage message = fromPool();
        message.beginNotice(client, kind);
        // Keeps the client's slot until the notice has been streamed.
        client.bufferTaken();
        parked.add(message);
        show();
    }

    private PullMessage fromPool() {
        PullMessage message = pool.poll();
        return message == null ? new PullMessage() : message;
    }

    /** Shows how many there are. */
    void show() {
        shared.parkedHeaders.lazySet(parked.size() + suspendedCount);
    }

    /** The client is gone: what it has not given yet will not come. */
    void drop(ServedClient client) {
        resume(client);
        for (PullMessage message : parked) {
            if (message.client == client && message.notice == 0) {
                message.abandoned();
            }
        }
    }

    /** Its messages have waited longest, and go before its later ones. */
    void resume(ServedClient client) {
        client.suspend(false);
        suspendedCount -= client.suspended.size();
        PullMessage message;
        while ((message = client.suspended.pollLast()) != null) {
            parked.addFirst(message);
        }
    }

    boolean isEmpty() {
        return parked.isEmpty();
    }

    /** The message that has waited longest; null: none. */
    PullMessage first() {
        return parked.peek();
    }

    PullMessage removeFirst() {
        return parked.poll();
    }

    /** The first one waits for its client to end the pause. */
    void suspendFirst() {
        PullMessage message = parked.poll();
        message.client.suspended.add(message);
        suspendedCount++;
    }

    /** A message that waits, suspended or not; null: none. */
    PullMessage find(ServedClient client, long sequence) {
        PullMessage message = find(parked, client, sequence);
        return message == null ? find(client.suspended, client, sequence) : message;
    }

    private static PullMessage find(
            ArrayDeque<PullMessage> messages, ServedClient client, long sequence) {
        for (PullMessage message : messages) {
            if (message.isOf(client, sequence)) {
                return message;
            }
        }
        return null;
    }

    /** Nothing more is to be done with it. */
    void free(PullMessage message) {
        message.forget();
        pool.add(message);
    }

    /** Names what waits when the server ends now. */
    void reportLost() {
        parked.forEach(message -> message.reportLost(shared));
    }
}
