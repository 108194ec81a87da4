package dev.verbena.flesnet.dfs;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * Pacers of several inputs and replicas of the scheduler, on one clock. A contribution is
 * acknowledged to all inputs when all have sent it.
 */
final class ExchangeModel {
    static final int INPUTS = 4;
    static final int RECEIVERS = 4;
    static final int REPLICAS = 3;
    static final int LENGTH = 40;
    static final DfsParameters PARAMETERS = DfsParameters.PAPER.intervals(LENGTH, 4);
    private static final long STEP_NS = 100;

    /** What is to happen at a time; of one time in the order of numbers. */
    private record Event(long timeNs, int number, Runnable action) implements Comparable<Event> {
        @Override
        public int compareTo(Event other) {
            return timeNs == other.timeNs
                    ? Integer.compare(number, other.number)
                    : Long.compare(timeNs, other.timeNs);
        }
    }

    /** A plan that an input has followed; own: without a proposal. */
    record Used(int input, long interval, long startNs, long durationNs, boolean isOwn) {}

    /** What an input has measured. */
    record Measured(int input, long interval, long durationNs) {}

    final List<Used> used = new ArrayList<>();
    final List<Measured> measured = new ArrayList<>();
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final List<IntervalPacer> pacers = new ArrayList<>();
    private final List<ScheduleEngine> replicas = new ArrayList<>();
    private final long[] killNs = new long[REPLICAS];
    private final long[] next = new long[INPUTS];
    private final long[] open = new long[INPUTS];
    private final long[] freeNs = new long[INPUTS];
    private final Map<Long, Integer> arrived = new HashMap<>();
    private int slowInput = -1;
    private long slowFrom;
    private int eventCount;
    private long aheadMax;
    private long nowNs;

    ExchangeModel() {
        for (int i = 0; i < INPUTS; i++) {
            pacers.add(new IntervalPacer(PARAMETERS, new IntervalRanges(LENGTH, RECEIVERS)));
            open[i] = -1;
        }
        for (int r = 0; r < REPLICAS; r++) {
            replicas.add(replica());
            killNs[r] = Long.MAX_VALUE;
        }
    }

    private static ScheduleEngine replica() {
        return new ScheduleEngine(PARAMETERS, INPUTS, new IntervalRanges(LENGTH, RECEIVERS));
    }

    /** From then on a replica hears and says nothing; what it has said is lost. */
    ExchangeModel kill(int replica, long atNs) {
        killNs[replica] = atNs;
        return this;
    }

    /** One that knows nothing takes the place of a replica that was killed. */
    ExchangeModel restart(int replica, long atNs) {
        events.add(
                new Event(
                        atNs,
                        eventCount++,
                        () -> {
                            replicas.set(replica, replica());
                            killNs[replica] = Long.MAX_VALUE;
                        }));
        return this;
    }

    /** The first interval of which a replica knows what all inputs have measured. */
    long firstKnown(int replica) {
        return replicas.get(replica).history().base();
    }

    /** From this interval on an input needs a quarter more time for each contribution. */
    ExchangeModel slow(int input, long fromInterval) {
        slowInput = input;
        slowFrom = fromInterval * LENGTH;
        return this;
    }

    private void after(long delayNs, Runnable action) {
        events.add(new Event(nowNs + delayNs, eventCount++, action));
    }

    /** Until the first input has opened so many intervals. */
    ExchangeModel run(int intervals) {
        for (nowNs = STEP_NS; pacers.get(0).open() < intervals; nowNs += STEP_NS) {
            while (!events.isEmpty() && events.peek().timeNs <= nowNs) {
                events.poll().action.run();
            }
            for (int i = 0; i < INPUTS; i++) {
                send(i);
            }
        }
        return this;
    }

    private void send(int input) {
        IntervalPacer pacer = pacers.get(input);
        long k = next[input];
        boolean isDue = pacer.dueNs(k, (int) (k % RECEIVERS), nowNs) - nowNs <= 0;
        if (isDue && freeNs[input] <= nowNs) {
            pacer.onSent(k, nowNs);
            next[input]++;
            freeNs[input] = nowNs + (input == slowInput && k >= slowFrom ? 12_500 : 10_000);
            // A network that is slower in some intervals.
            after(20_000 + (k * 7 + input * 13) % 10 * 1000 + k / 400 % 3 * 4000, () -> arrive(k));
        }
        if (pacer.open() != open[input]) {
            open[input] = pacer.open();
            used.add(
                    new Used(
                            input,
                            pacer.open(),
                            pacer.plannedStartNs(),
                            pacer.plannedDurationNs(),
                            pacer.isImprovised()));
            for (IntervalPacer other : pacers) {
                aheadMax = Math.max(aheadMax, pacer.open() - Math.max(0, other.open()));
            }
        }
    }

    private void arrive(long k) {
        if (arrived.merge(k, 1, Integer::sum) < INPUTS) {
            return;
        }
        arrived.remove(k);
        for (int i = 0; i < INPUTS; i++) {
            acknowledge(i, k);
        }
    }

    private void acknowledge(int input, long k) {
        pacers.get(input).onAcked(k, nowNs);
        IntervalMetadata report = new IntervalMetadata();
        if (pacers.get(input).takeReport(report)) {
            measured.add(new Measured(input, report.interval(), report.durationNs()));
            long sentNs = nowNs;
            for (int r = 0; r < REPLICAS; r++) {
                int replica = r;
                after(2000 + 1000 * r, () -> report(replica, input, report, sentNs));
            }
        }
    }

    private void report(int replica, int input, IntervalMetadata report, long sentNs) {
        if (nowNs >= killNs[replica]) {
            return;
        }
        ScheduleEngine engine = replicas.get(replica);
        long wanted = report.interval() + Proposer.DISTANCE;
        engine.onReport(input, report, wanted, sentNs, nowNs - sentNs, nowNs);
        for (int i = 0; i < INPUTS; i++) {
            IntervalMetadata proposal = new IntervalMetadata();
            if (engine.answer(i, proposal)) {
                int to = i;
                after(2000 + 1000 * replica, () -> propose(replica, to, proposal));
            }
        }
    }

    private void propose(int replica, int input, IntervalMetadata proposal) {
        if (nowNs < killNs[replica]) {
            pacers.get(input).onProposal(proposal);
        }
    }

    /** By how many intervals an input was ahead of another at most. */
    long aheadMax() {
        return aheadMax;
    }
}
