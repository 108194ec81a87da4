package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;
import dev.verbena.verbs.CompletionQueue;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequestFlyweight;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The latency loops: one message at a time, for a number of them or for a time. Writes and sends go
 * to and fro, and half of that is reported; reads and atomics are the client's alone. For a number,
 * the time is read once for each; for a time, messages are counted, and whatever has not come when
 * it is over is not waited for.
 */
final class PerftestLatency {
    private final PerftestEndpoint endpoint;
    private final PerftestTool tool;
    private final PerftestOptions options;
    private final boolean isClient;
    private final long count;
    private final long[] stamps;
    private PerftestDuration stretch = PerftestDuration.WITHOUT_TIME;

    PerftestLatency(PerftestEndpoint endpoint, boolean isClient, PerftestOptions options) {
        this.endpoint = endpoint;
        this.tool = options.tool;
        this.options = options;
        this.isClient = isClient;
        this.count = options.iterations();
        this.stamps = new long[options.hasDuration() ? 0 : (int) count];
    }

    /** All of one size. */
    PerftestReport measure(int size) {
        endpoint.prepare(0, size);
        if (options.hasDuration()) {
            stretch = new PerftestDuration(options.durationSeconds, options.marginSeconds);
            stretch.begin(System.nanoTime());
        }
        if (tool.isWrite()) {
            write(size);
        } else if (tool.isSend()) {
            send(size);
        } else {
            fetch();
        }
        int ways = tool.isPingPong() ? 2 : 1;
        return options.hasDuration()
                ? PerftestReport.ofDuration(size, stretch.counted(), stretch.sampleNs(), ways)
                : PerftestReport.ofLatencies(
                        size, count, latencies(ways), options.isHistogram, options.isUnsorted);
    }

    /** Nanoseconds between two starts, halved if there and back; in the order of time. */
    private double[] latencies(double ways) {
        double[] ns = new double[Math.max(1, stamps.length - 1)];
        for (int i = 0; i + 1 < stamps.length; i++) {
            ns[i] = (stamps[i + 1] - stamps[i]) / ways;
        }
        return ns;
    }

    /** The next message begins. */
    private void stamp(long number) {
        if (number < stamps.length) {
            stamps[(int) number] = System.nanoTime();
        }
    }

    /** Posts, and waits for the completion; false if the time was over first. */
    private boolean postAndWait(QueuePair queue, SendRequestFlyweight request) {
        PerftestEndpoint.check(queue, queue.post(request), 1);
        if (!hasNext(endpoint.sendCompletions)) {
            return false;
        }
        stretch.count(1);
        return true;
    }

    /** Waits for a completion; false if the time was over first. */
    private boolean hasNext(CompletionQueue completions) {
        if (!options.hasDuration()) {
            endpoint.next(completions);
            return true;
        }
        while (endpoint.poll(completions, false) == 0) {
            if (stretch.isOver()) {
                return false;
            }
        }
        return true;
    }

    /** Waits for a write of the peer; false if the time was over first. */
    private boolean isWritten(UnsafeBuffer window, int index, byte value) {
        if (!options.hasDuration()) {
            endpoint.await(window, index, value);
            return true;
        }
        while (window.getByteVolatile(index) != value) {
            if (stretch.isOver()) {
                return false;
            }
        }
        return true;
    }

    /** The last byte of a write is its number. The server begins, as perftest's does. */
    private void write(int size) {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        UnsafeBuffer mine = endpoint.places.window(endpoint.places.sendOffset(0), size);
        UnsafeBuffer theirs = endpoint.places.window(endpoint.places.receiveOffset(0), size);
        int last = size - 1;
        boolean isOver = false;
        for (long sent = 0, received = 0; !isOver && (sent < count || received < count); ) {
            if (received < count && (sent > 0 || isClient)) {
                received++;
                isOver = !isWritten(theirs, last, (byte) received);
            }
            if (sent < count && !isOver) {
                stamp(sent);
                sent++;
                mine.putByte(last, (byte) sent);
                isOver = !postAndWait(queue, request) || stretch.isOver();
            }
        }
    }

    /** The client begins. */
    private void send(int size) {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        int depth = endpoint.receiveDepth();
        boolean isOver = false;
        for (long sent = 0, received = 0; !isOver && (sent < count || received < count); ) {
            if (received < count && (sent > 0 || !isClient)) {
                isOver = !hasNext(endpoint.receiveCompletions);
                if (!isOver) {
                    endpoint.checkLength(endpoint.receiveCompletions.completion(0).length(), size);
                    received++;
                    if (received + depth <= count) {
                        endpoint.postReceive(0, received);
                    }
                }
            }
            if (sent < count && !isOver) {
                stamp(sent);
                sent++;
                isOver = !postAndWait(queue, request) || stretch.isOver();
            }
        }
    }

    /** Reads and atomics. */
    private void fetch() {
        QueuePair queue = endpoint.queues.get(0);
        SendRequestFlyweight request = endpoint.sends[0].at(0).signalled(true);
        UnsafeBuffer came = endpoint.places.window(endpoint.places.sendOffset(0), Long.BYTES);
        boolean isCounting = endpoint.isCounting();
        long before = 0;
        for (long i = 0; i < count && !stretch.isOver(); i++) {
            stamp(i);
            if (!postAndWait(queue, request)) {
                return;
            }
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
