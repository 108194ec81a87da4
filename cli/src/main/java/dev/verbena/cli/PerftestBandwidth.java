package dev.verbena.cli;

import dev.verbena.verbs.CompletionFlyweight;
import dev.verbena.verbs.QueuePair;
import dev.verbena.verbs.SendRequests;
import java.util.Arrays;

/** The bandwidth loops: as many messages outstanding as the depth allows, on every queue pair. */
final class PerftestBandwidth {
    private static final int PEAK_POINTS_MAX = 2000;
    private static final int SPINS = 1 << 12;

    private final PerftestEndpoint endpoint;
    private final PerftestTool tool;
    private final PerftestOptions options;
    private final long iterations;
    private final int depth;
    private final int moderation;
    private final int list;
    private final long[] posted;
    private final long[] completed;
    private final long[] starts = new long[PEAK_POINTS_MAX];
    private final long[] startBytes = new long[PEAK_POINTS_MAX];
    private final long[] ends = new long[PEAK_POINTS_MAX];
    private final long[] endBytes = new long[PEAK_POINTS_MAX];
    private int startCount;
    private int endCount;
    private int size;

    PerftestBandwidth(PerftestEndpoint endpoint, PerftestTool tool, PerftestOptions options) {
        this.endpoint = endpoint;
        this.tool = tool;
        this.options = options;
        this.iterations = options.iterations();
        this.depth = options.sendDepth();
        this.list = options.list;
        this.moderation = list > 1 ? list : options.moderation();
        this.posted = new long[endpoint.queues.size()];
        this.completed = new long[endpoint.queues.size()];
    }

    /** Sends all; the report of one size. */
    PerftestReport measure(int size) {
        this.size = size;
        for (int q = 0; q < posted.length; q++) {
            endpoint.prepare(q, size);
        }
        if (!tool.isSend()) {
            // Nobody counts these. Atomics are left out, so that the server's sum is the number.
            warmUp();
        }
        startCount = 0;
        endCount = 0;
        long begin = System.nanoTime();
        run(iterations, true);
        return report(begin, System.nanoTime());
    }

    private void warmUp() {
        if (!tool.isAtomic()) {
            run(Math.min(depth, iterations), false);
        }
    }

    private void run(long count, boolean isMeasured) {
        Arrays.fill(posted, 0);
        Arrays.fill(completed, 0);
        long missing = count * posted.length;
        PerftestEndpoint.Patience patience = null;
        int spins = 0;
        while (missing > 0) {
            for (int q = 0; q < posted.length; q++) {
                while (posted[q] < count && posted[q] - completed[q] + list <= depth) {
                    post(q, count, isMeasured);
                }
            }
            int came = endpoint.poll(endpoint.sendCompletions, true);
            for (int i = 0; i < came; i++) {
                CompletionFlyweight completion = endpoint.sendCompletions.completion(i);
                int q = (int) (completion.id() >>> 40);
                long upTo = completion.id() & (1L << 40) - 1;
                missing -= upTo - completed[q];
                completed[q] = upTo;
            }
            if (came > 0) {
                spins = 0;
                patience = null;
                if (isMeasured) {
                    note(ends, endBytes, endCount, count * posted.length - missing);
                    endCount++;
                }
            } else if (++spins == SPINS) {
                spins = 0;
                patience = patience == null ? new PerftestEndpoint.Patience() : patience;
                patience.check("no completion");
            }
        }
    }

    /** The next message or list of messages; one in so many asks for a completion. */
    private void post(int q, long count, boolean isMeasured) {
        QueuePair queue = endpoint.queues.get(q);
        SendRequests requests = endpoint.sends[q];
        long number = posted[q];
        int batch = (int) Math.min(list, count - number);
        int from = (int) (number % requests.capacity());
        batch = Math.min(batch, requests.capacity() - from);
        long upTo = number + batch;
        // Each list, also the one of a single request at the end of the ring: else a depth that is
        // as short as a list is used up by requests of which nobody hears.
        boolean isSignalled = list > 1 || upTo % moderation == 0 || upTo == count;
        if (isMeasured && number % moderation == 0) {
            note(starts, startBytes, startCount, q == 0 ? number * posted.length : -1);
            startCount += q == 0 ? 1 : 0;
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

    private static void note(long[] times, long[] counts, int at, long messages) {
        if (at < times.length && messages >= 0) {
            times[at] = System.nanoTime();
            counts[at] = messages;
        }
    }

    private PerftestReport report(long begin, long end) {
        double total = (double) iterations * posted.length;
        double average = total * size / PerftestReport.MEBIBYTE / ((end - begin) / 1e9);
        double rate = total * 1e3 / (end - begin);
        double peak = Math.max(average, peak());
        return PerftestReport.ofBandwidth(
                size, iterations * posted.length, peak, average, rate, options.isGigabits);
    }

    /** Best stretch between the start of some messages and the end of some, MiB/s. */
    private double peak() {
        double best = 0;
        int until = Math.min(endCount, PEAK_POINTS_MAX);
        for (int i = 0; i < Math.min(startCount, PEAK_POINTS_MAX); i++) {
            for (int j = 0; j < until; j++) {
                if (endBytes[j] - startBytes[i] >= (long) moderation * posted.length) {
                    double ns = ends[j] - starts[i];
                    best = Math.max(best, (endBytes[j] - startBytes[i]) * 1e9 / ns);
                }
            }
        }
        return best * size / PerftestReport.MEBIBYTE;
    }

    /** The receiving side of sends. */
    PerftestReport receive(int size) {
        this.size = size;
        long[] received = new long[posted.length];
        long total = iterations * posted.length;
        long begin = 0;
        PerftestEndpoint.Patience patience = null;
        int spins = 0;
        for (long sum = 0; sum < total; ) {
            int came = endpoint.poll(endpoint.receiveCompletions, true);
            for (int i = 0; i < came; i++) {
                CompletionFlyweight completion = endpoint.receiveCompletions.completion(i);
                int q = (int) completion.id();
                endpoint.checkLength(completion.length(), size);
                received[q]++;
                if (received[q] + endpoint.receiveDepth() <= iterations) {
                    endpoint.postReceive(q, received[q]);
                }
            }
            if (came > 0) {
                begin = sum == 0 ? System.nanoTime() : begin;
                sum += came;
                spins = 0;
                patience = null;
            } else if (++spins == SPINS) {
                spins = 0;
                patience = patience == null ? new PerftestEndpoint.Patience() : patience;
                patience.check("no message");
            }
        }
        startCount = 0;
        endCount = 0;
        return report(begin, System.nanoTime());
    }
}
