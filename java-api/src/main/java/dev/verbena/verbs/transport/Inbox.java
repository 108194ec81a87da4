package dev.verbena.verbs.transport;

import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.TransportHandler;
import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.CompletionStatus;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Takes what peers sent from the NIC, and gives it to the handler: messages, notifications,
 * credits. Owned by the transport's thread.
 *
 * <p>Completions are taken in batches and delivered one by one, as many as a poll may.
 */
final class Inbox {
    private static final int BATCH = 32;

    /** So many polls without anything are a pause. */
    private static final int EMPTY_POLLS = 32;

    private final CompletionQueue completions;
    private final ReceivePool pool;
    private final VerbsRegions regions;
    private final VerbsConnections connections;
    private int count;
    private int next;
    private int emptyPolls;
    private long droppedCount;

    Inbox(
            VerbsResources resources,
            ReceivePool pool,
            VerbsRegions regions,
            VerbsConnections connections) {
        this.completions = resources.receives;
        this.pool = pool;
        this.regions = regions;
        this.connections = connections;
    }

    /** Whether there is something to deliver; asks the NIC if nothing is known of. */
    boolean hasSome() {
        if (next < count) {
            return true;
        }
        next = 0;
        count = connections.poll(completions, BATCH);
        connections.pairs().polled(count);
        emptyPolls = count > 0 ? 0 : emptyPolls + 1;
        if (emptyPolls > EMPTY_POLLS && connections.owesCredits()) {
            connections.returnCredits();
        }
        return count > 0;
    }

    /** Delivers up to {@code limit}; answers how many. */
    int deliver(TransportHandler handler, int limit) {
        int delivered = 0;
        while (delivered < limit && hasSome()) {
            CompletionFlyweight completion = completions.completion(next);
            VerbsConnection connection = connections.pairs().byIn(completion.queuePairNumber());
            if (connection != null && connection.state < VerbsConnection.OPEN) {
                // Who sends is joined: the word of it may be slower than the first message.
                int events = connections.deliverJoined(connection, handler, limit - delivered);
                delivered += events;
                if (connection.state < VerbsConnection.OPEN) {
                    return delivered;
                }
                continue;
            }
            next++;
            delivered += take(completion, connection, handler);
        }
        return delivered;
    }

    private int take(
            CompletionFlyweight completion, VerbsConnection connection, TransportHandler handler) {
        if (!pool.isPosted(completion.id())) {
            throw new IllegalStateException("the card names receive " + completion.id());
        }
        int slot = (int) completion.id();
        pool.take(slot);
        if (!completion.isSuccess() || connection == null) {
            pool.post(slot);
            if (connection != null && completion.status() != CompletionStatus.FLUSHED) {
                connections.die(connection, "sent what fits no slot: " + completion, false);
            }
            return 0;
        }
        if (completion.opcode() != CompletionFlyweight.RECEIVE) {
            pool.post(slot);
            connections.corrupt(connection, "it took a slot with something that is no message");
            return 0;
        }
        int length = completion.length();
        if (completion.hasImmediate() && length == 0) {
            pool.post(slot);
            if (!connection.credits.add(completion.immediate())) {
                connections.corrupt(connection, "its credits make no sense");
            }
            return 0;
        }
        if (!connection.credits.hold()) {
            pool.post(slot);
            connections.corrupt(connection, "it sent more messages than it has credits");
            return 0;
        }
        connections.wantsToPost(connection); // the peer may have no credit left, and wait for one
        if (connection.state > VerbsConnection.DYING || isLeaving(connection)) {
            free(slot, connection);
            return 0;
        }
        return completion.hasImmediate()
                ? notify(slot, length, completion.immediate(), connection, handler)
                : message(slot, length, connection, handler);
    }

    private static boolean isLeaving(VerbsConnection connection) {
        return connection.state == VerbsConnection.LEAVING
                || connection.state == VerbsConnection.LEFT
                || connection.isQuiet;
    }

    private int message(
            int slot, int length, VerbsConnection connection, TransportHandler handler) {
        long token = pool.deliver(slot, connection.handle);
        try {
            handler.onMessage(
                    connection.handle,
                    connection.context,
                    pool.buffer(slot),
                    pool.offset(slot),
                    length,
                    token);
        } finally {
            if (pool.isDone(slot)) {
                free(slot, connection);
            }
        }
        return 1;
    }

    private int notify(
            int slot, int length, int tag, VerbsConnection connection, TransportHandler handler) {
        UnsafeBuffer record = pool.buffer(slot);
        int at = pool.offset(slot);
        long address = record.getLong(at);
        long bytes = record.getLong(at + Work.RECORD_LENGTH);
        int key = record.getInt(at + Work.RECORD_KEY);
        free(slot, connection);
        if (length != Work.RECORD) {
            connections.corrupt(connection, "wrote a notification of " + length + " bytes");
            return 0;
        }
        VerbsRegion region = regions.find(key, address, bytes);
        if (region == null || (region.rights() & RemoteDescriptor.REMOTE_WRITE) == 0) {
            droppedCount++; // most likely the region was closed meanwhile
            return 0;
        }
        handler.onNotify(
                connection.handle,
                connection.context,
                tag,
                region.id(),
                address - region.base(),
                bytes);
        return 1;
    }

    private void free(int slot, VerbsConnection connection) {
        pool.post(slot);
        connections.freed(connection);
    }

    /** Notifications for regions that were not there any more. */
    long droppedCount() {
        return droppedCount;
    }

    void retain(long token) {
        pool.retain(token);
    }

    void release(long token) {
        int slot = pool.release(token);
        pool.post(slot);
        VerbsConnection connection = connections.table().find(pool.handle(slot));
        if (connection != null) {
            connections.freed(connection);
        }
    }
}
