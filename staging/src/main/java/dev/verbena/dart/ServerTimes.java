package dev.verbena.dart;

import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Where the time of a piece of data went on a server: being pulled out of its process, waiting, and
 * being streamed until it was acknowledged (figures 8 and 9 of the paper). A message longer than a
 * buffer counts once for each piece. Times in nanoseconds.
 *
 * <p>Written by t3. Sums may be read by any thread at any time; the distributions are exact once
 * the server is closed, and may lack the latest values before.
 */
public final class ServerTimes {
    private static final int PULL = 0;
    private static final int QUEUE = 1;
    private static final int STREAM = 2;
    private static final int COUNT = 3;
    private static final int FIELDS = 4;

    private final TimeHistogram pull = new TimeHistogram();
    private final TimeHistogram queue = new TimeHistogram();
    private final TimeHistogram stream = new TimeHistogram();
    private final AtomicIntegerArray clients;
    private final AtomicLongArray sums;

    /** For a server that takes so many processes. */
    public ServerTimes(int clientsMax) {
        clients = new AtomicIntegerArray(clientsMax);
        sums = new AtomicLongArray(clientsMax * FIELDS);
    }

    /**
     * By the server's t3: a piece that the receiver has acknowledged, or that was thrown away.
     *
     * @param slot of its process at this server
     */
    public void record(int slot, int clientId, long pullNs, long queueNs, long streamNs) {
        pull.record(pullNs);
        queue.record(queueNs);
        stream.record(streamNs);
        int at = slot * FIELDS;
        if (clients.get(slot) != clientId) {
            for (int i = 0; i < FIELDS; i++) {
                sums.lazySet(at + i, 0);
            }
            clients.lazySet(slot, clientId);
        }
        add(at + PULL, pullNs);
        add(at + QUEUE, queueNs);
        add(at + STREAM, streamNs);
        add(at + COUNT, 1);
    }

    private void add(int at, long delta) {
        sums.lazySet(at, sums.get(at) + delta);
    }

    /** From the start of the get to its completion. */
    public TimeHistogram pull() {
        return pull;
    }

    /** From then to the first byte written to the receiver: other data are before it. */
    public TimeHistogram queue() {
        return queue;
    }

    /** From then to the receiver's acknowledgement. */
    public TimeHistogram stream() {
        return stream;
    }

    /** Sum of the pull times of one process; 0 if it is not known here. */
    public long pullNs(int clientId) {
        return sum(clientId, PULL);
    }

    /** Sum of the queue times of one process. */
    public long queueNs(int clientId) {
        return sum(clientId, QUEUE);
    }

    /** Sum of the streaming times of one process. */
    public long streamNs(int clientId) {
        return sum(clientId, STREAM);
    }

    /** Pieces of one process. */
    public long count(int clientId) {
        return sum(clientId, COUNT);
    }

    private long sum(int clientId, int field) {
        for (int slot = 0; slot < clients.length(); slot++) {
            if (clientId != 0 && clients.get(slot) == clientId) {
                return sums.get(slot * FIELDS + field);
            }
        }
        return 0;
    }
}
