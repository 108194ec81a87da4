package dev.verbena.cli.perftest;

import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequests;
import java.util.Arrays;

/**
 * The bandwidth loops: as many messages outstanding as the depth allows, on every queue pair, in
 * one direction or both, for a number of messages or for a time.
 */
final class PerftestBandwidth {
    private static final long WARM_UP_MAX = 20_000;
    private static final long WARM_UP_NS = 2_000_000_000L;

    private final PerftestEndpoint endpoint;
    private final PerftestTool tool;
    private final PerftestOptions options;
    private final long iterations;
    private final int depth;
    private final int moderation;
    private final int list;
    private final long[] posted;
    private final long[] completed;
    private final long[] received;
    private final PerftestPeak peak = new PerftestPeak();
    private PerftestDuration stretch;
    private long sendsMissing;
    private long receivesMissing;

    /** Messages that the receiving side had taken when its clock was started. */
    private long receivedBefore;

    private boolean isMeasured;
    private boolean isCompiled;
    private int size;

    PerftestBandwidth(PerftestEndpoint endpoint, PerftestOptions options) {
        this.endpoint = endpoint;
        this.tool = options.tool;
        this.options = options;
        this.iterations = options.iterations();
        this.depth = options.sendDepth();
        this.list = options.list;
        this.moderation = list > 1 ? list : options.moderation();
        this.posted = new long[endpoint.queues.size()];
        this.completed = new long[posted.length];
        this.received = new long[posted.length];
    }

    /**
     * Not counted: as many as will be counted, so that the loop is compiled, but not endlessly; of
     * later sizes as many as the depth. Sends and atomics are left out: the server counts sends,
     * and its sum of atomics is the number.
     */
    void warmUp(int size) {
        if (tool.isSend() || tool.isAtomic()) {
            return;
        }
        prepare(size);
        stretch = PerftestDuration.WITHOUT_TIME;
        isMeasured = false;
        long left = Math.min(isCompiled ? depth : WARM_UP_MAX, iterations);
        long until = System.nanoTime() + WARM_UP_NS;
        do {
            long batch = Math.min(depth, left);
            run(batch, 0, true);
            left -= batch;
        } while (left > 0 && System.nanoTime() < until);
        isCompiled = true;
    }

    private void prepare(int size) {
        this.size = size;
        for (int q = 0; q < posted.length; q++) {
            endpoint.prepare(q, size);
        }
        peak.clear();
        isMeasured = true;
        stretch =
                options.hasDuration()
                        ? new PerftestDuration(options.durationSeconds, options.marginSeconds)
                        : PerftestDuration.WITHOUT_TIME;
    }

    /** Sends all; the report of one size. */
    PerftestReport measure(int size) {
        prepare(size);
        return report(run(iterations, 0, true));
    }

    /**
     * Sends from client to server, or to both sides.
     *
     * @param isClient this side begins; the other one when something came
     */
    PerftestReport stream(int size, boolean isClient) {
        prepare(size);
        long sends = isClient || options.isBidirectional ? iterations : 0;
        long receives = !isClient || options.isBidirectional ? iterations : 0;
        return report(run(sends, receives, isClient));
    }

    /** How long it took, from the first message on. */
    private long run(long sends, long receives, boolean isFirst) {
        Arrays.fill(posted, 0);
        Arrays.fill(completed, 0);
        Arrays.fill(received, 0);
        sendsMissing = sends * posted.length;
        receivesMissing = receives * posted.length;
        receivedBefore = 0;
        boolean hasBegun = isFirst && sends > 0;
        long begin = System.nanoTime();
        if (hasBegun) {
            stretch.begin(begin);
        }
        Patience patience = new Patience();
        while (sendsMissing + receivesMissing > 0 && !stretch.isOver()) {
            if (hasBegun) {
                postAll(sends);
            }
            int came = receives == 0 ? 0 : takeReceives(receives);
            if (came > 0 && !hasBegun) {
                hasBegun = true;
                receivedBefore = sends == 0 ? came : 0;
                begin = System.nanoTime();
                stretch.begin(begin);
            }
            came += sends == 0 ? 0 : takeSends(sends);
            if (came > 0) {
                patience.reset();
            } else {
                patience.waited(
                        endpoint.idle(), receivesMissing > 0 ? "no message" : "no completion");
            }
        }
        return System.nanoTime() - begin;
    }

    private void postAll(long count) {
        for (int q = 0; q < posted.length; q++) {
            while (posted[q] < count && posted[q] - completed[q] + list <= depth) {
                post(q, count);
            }
        }
    }

    private int takeSends(long count) {
        int came = endpoint.poll(endpoint.sendCompletions, true);
        for (int i = 0; i < came; i++) {
            CompletionFlyweight completion = endpoint.sendCompletions.completion(i);
            int q = (int) (completion.id() >>> 40);
            long upTo = completion.id() & (1L << 40) - 1;
            sendsMissing -= upTo - completed[q];
            stretch.count(upTo - completed[q]);
            completed[q] = upTo;
        }
        if (came > 0 && isMeasured) {
            peak.noteEnd(count * posted.length - sendsMissing);
        }
        return came;
    }

    private int takeReceives(long count) {
        int came = endpoint.poll(endpoint.receiveCompletions, true);
        for (int i = 0; i < came; i++) {
            CompletionFlyweight completion = endpoint.receiveCompletions.completion(i);
            int q = (int) completion.id();
            endpoint.checkLength(completion.length(), size);
            received[q]++;
            if (received[q] + endpoint.receiveDepth() <= count) {
                endpoint.postReceive(q, received[q]);
            }
        }
        receivesMissing -= came;
        stretch.count(came);
        return came;
    }

    /** The next message or list of messages; one in so many asks for a completion. */
    private void post(int q, long count) {
        QueuePair queue = endpoint.queues.get(q);
        SendRequests requests = endpoint.sends[q];
        long number = posted[q];
        int batch = (int) Math.min(list, count - number);
        int from = (int) (number % requests.capacity());
        batch = Math.min(batch, requests.capacity() - from);
        long upTo = number + batch;
        // Each list, also the one of a single request at the end of the ring: else a depth that is
        // as short as a list is used up by requests without a completion.
        boolean isSignalled = list > 1 || upTo % moderation == 0 || upTo == count;
        if (isMeasured) {
            peak.post(q == 0 && number % moderation == 0, batch);
        }
        for (int i = from; i < from + batch - 1; i++) {
            requests.at(i).signalled(false);
        }
        requests.at(from + batch - 1).signalled(isSignalled).id((long) q << 40 | upTo);
        PerftestEndpoint.check(
                queue,
                batch == 1 ? queue.post(requests.at(from)) : queue.post(requests, from, batch),
                batch);
        posted[q] = upTo;
    }

    /**
     * NaN if that is not known: all came at once.
     *
     * @param before of the total, those that came before the clock was started
     */
    static double messagesPerSecond(long total, long before, double ns) {
        return total > 0 && total == before ? Double.NaN : (total - before) * 1e9 / ns;
    }

    private PerftestReport report(long elapsedNs) {
        boolean hasTime = options.hasDuration();
        long total = hasTime ? stretch.counted() : iterations * posted.length;
        double ns = hasTime ? stretch.sampleNs() : elapsedNs;
        double rate = messagesPerSecond(total, hasTime ? 0 : receivedBefore, ns);
        double average = rate * size / PerftestReport.MEBIBYTE;
        // As perftest: none of a duration.
        double best = hasTime ? 0 : Math.max(average, best());
        return PerftestReport.ofBandwidth(
                size, total, best, average, rate / 1e6, options.isGigabits);
    }

    private double best() {
        return peak.messagesPerSecond((long) moderation * posted.length)
                * size
                / PerftestReport.MEBIBYTE;
    }
}
