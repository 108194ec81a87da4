package dev.verbena.cli;

import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequestFlyweight;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The latency loops: one message at a time, the time read once for each. Writes and sends go to and
 * fro, and half of that is reported; reads and atomics are the client's alone.
 */
final class PerftestLatency {
    private final PerftestEndpoint endpoint;
    private final PerftestTool tool;
    private final boolean isClient;
    private final long[] stamps;

    PerftestLatency(
            PerftestEndpoint endpoint, PerftestTool tool, boolean isClient, long iterations) {
        this.endpoint = endpoint;
        this.tool = tool;
        this.isClient = isClient;
        this.stamps = new long[(int) iterations];
    }

    /** Nanoseconds between two starts, halved if there and back; in the order of time. */
    double[] measure(int size) {
        endpoint.prepare(0, size);
        if (tool.isWrite()) {
            write(size);
        } else if (tool.isSend()) {
            send(size);
        } else {
            fetch();
        }
        double ways = tool.isPingPong() ? 2 : 1;
        double[] ns = new double[Math.max(1, stamps.length - 1)];
        for (int i = 0; i + 1 < stamps.length; i++) {
            ns[i] = (stamps[i + 1] - stamps[i]) / ways;
        }
        return ns;
    }

    /** The last byte of a write is its number. The server begins, as perftest's does. */
    private void write(int size) {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        UnsafeBuffer mine = endpoint.window(endpoint.sendOffset(0), size);
        UnsafeBuffer theirs = endpoint.window(endpoint.receiveOffset(0), size);
        int last = size - 1;
        int count = stamps.length;
        for (int sent = 0, received = 0; sent < count || received < count; ) {
            if (received < count && (sent > 0 || isClient)) {
                received++;
                endpoint.await(theirs, last, (byte) received);
            }
            if (sent < count) {
                stamps[sent] = System.nanoTime();
                sent++;
                mine.putByte(last, (byte) sent);
                PerftestEndpoint.check(queue, queue.post(request), 1);
                endpoint.next(endpoint.sendCompletions);
            }
        }
    }

    /** The client begins. */
    private void send(int size) {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        int count = stamps.length;
        int depth = endpoint.receiveDepth();
        for (int sent = 0, received = 0; sent < count || received < count; ) {
            if (received < count && (sent > 0 || !isClient)) {
                int length = endpoint.next(endpoint.receiveCompletions).length();
                endpoint.checkLength(length, size);
                received++;
                if (received + depth <= count) {
                    endpoint.postReceive(0, received);
                }
            }
            if (sent < count) {
                stamps[sent] = System.nanoTime();
                sent++;
                PerftestEndpoint.check(queue, queue.post(request), 1);
                endpoint.next(endpoint.sendCompletions);
            }
        }
    }

    /** Reads and atomics. */
    private void fetch() {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        UnsafeBuffer came = endpoint.window(endpoint.sendOffset(0), Long.BYTES);
        boolean isCounting = endpoint.isCounting();
        long before = 0;
        for (int i = 0; i < stamps.length; i++) {
            stamps[i] = System.nanoTime();
            PerftestEndpoint.check(queue, queue.post(request), 1);
            endpoint.next(endpoint.sendCompletions);
            if (isCounting) {
                long now = came.getLong(0);
                if (i > 0 && now != before + 1) {
                    throw new Messages.Failure(
                            "fetch-and-add number " + i + " brought " + now + " after " + before);
                }
                before = now;
            }
        }
    }
}
