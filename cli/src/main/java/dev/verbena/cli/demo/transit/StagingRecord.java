package dev.verbena.cli.demo.transit;

import dev.verbena.examples.pic.StallSample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.ToLongFunction;

/** What was staged and when, as the receiver saw it, and what it cost the processes. */
public final class StagingRecord {
    private final List<Arrival> arrivals = new ArrayList<>();
    private final List<Cost> costs = new ArrayList<>();
    private final List<StallSample> stalls = new ArrayList<>();
    private final Set<Integer> reportedRanks = new HashSet<>();
    private String explanation = "";
    private int sentCount;
    private int equalCount;

    /** Empty. */
    public StagingRecord() {}

    /**
     * A restart file arrived and is stored.
     *
     * @param rank that wrote it
     * @param step it is of
     * @param length bytes
     * @param serverId server that streamed it; 0 is the master
     * @param timeNs on the receiver's monotonic clock
     */
    public record Arrival(int rank, long step, long length, int serverId, long timeNs) {}

    /**
     * What staging one restart file cost its process. Times of the DART paper, in nanoseconds.
     *
     * @param rank of the process
     * @param step of the file
     * @param length bytes
     * @param messageCount messages it took
     * @param headerNs th, sending headers
     * @param waitNs tw, waiting for earlier messages
     * @param totalNs tt, in the calls altogether
     * @param stallNs from the moment the simulation turned to output until it could go on: packing
     *     the file and the calls
     * @param computeNs computing since the file before
     */
    public record Cost(
            int rank,
            long step,
            long length,
            long messageCount,
            long headerNs,
            long waitNs,
            long totalNs,
            long stallNs,
            long computeNs) {
        private static final int FIELD_COUNT = 9;

        /**
         * Reads a line that may come from anywhere.
         *
         * @throws IllegalArgumentException quoting the line
         */
        public static Cost decode(String line) {
            String[] parts = line.strip().split(",", -1);
            long[] v =
                    Arrays.stream(parts)
                            .filter(part -> part.matches("[0-9]{1,18}"))
                            .mapToLong(Long::parseLong)
                            .toArray();
            if (parts.length != FIELD_COUNT || v.length != FIELD_COUNT) {
                throw new IllegalArgumentException("no line of times: '" + line.strip() + "'");
            }
            return new Cost((int) v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]);
        }
    }

    /** Notes an arrival. Thread-safe. */
    public synchronized void add(Arrival arrival) {
        arrivals.add(arrival);
    }

    /** Notes a cost. Thread-safe. */
    public synchronized void add(Cost cost) {
        costs.add(cost);
    }

    /** Notes what was measured in the comparison. Thread-safe. */
    public synchronized void add(StallSample stall) {
        stalls.add(stall);
    }

    /** What was measured in the comparison. Thread-safe. */
    public synchronized List<StallSample> stalls() {
        return List.copyOf(stalls);
    }

    /** Notes how many files were sent, and how many are stored with the same bytes. */
    synchronized void compared(int sentCount, int equalCount) {
        this.sentCount = sentCount;
        this.equalCount = equalCount;
    }

    /** Files that the compute processes sent. Thread-safe. */
    public synchronized int sentCount() {
        return sentCount;
    }

    /** Of them, those stored with the same bytes. Thread-safe. */
    public synchronized int equalCount() {
        return equalCount;
    }

    /** Whether this is the first report of a process of what output cost. Thread-safe. */
    synchronized boolean isFirstReportOf(int rank) {
        return reportedRanks.add(rank);
    }

    /** Notes how the processes' transport explains itself. Thread-safe. */
    public synchronized void explanation(String explanation) {
        this.explanation = explanation;
    }

    /** How the processes' transport explains itself. Thread-safe. */
    public synchronized String explanation() {
        return explanation;
    }

    /** A copy, in order of arrival. Thread-safe. */
    public synchronized List<Arrival> arrivals() {
        List<Arrival> sorted = new ArrayList<>(arrivals);
        sorted.sort(Comparator.comparingLong(Arrival::timeNs));
        return sorted;
    }

    /** A copy, by rank and step. Thread-safe. */
    public synchronized List<Cost> costs() {
        List<Cost> sorted = new ArrayList<>(costs);
        sorted.sort(Comparator.comparingInt(Cost::rank).thenComparingLong(Cost::step));
        return sorted;
    }

    /** Bytes of all files. */
    public long byteCount() {
        return arrivals().stream().mapToLong(Arrival::length).sum();
    }

    /** Seconds from the first to the last arrival. */
    public double seconds() {
        List<Arrival> all = arrivals();
        return all.size() < 2 ? 0 : (all.get(all.size() - 1).timeNs() - all.get(0).timeNs()) / 1e9;
    }

    /** The slowest process' stall of each output of the run, which all others wait for. */
    Collection<Long> stallsOfOutputs() {
        return slowest(Cost::stallNs).values();
    }

    /** Part of the run's time in which output held up the simulation; 0 if nothing was sent. */
    double outputShare() {
        double stall = sum(slowest(Cost::stallNs));
        // A process that is done with its output waits for the slowest one in its next step.
        double whole = stall + sum(quickest(Cost::computeNs));
        return whole == 0 ? 0 : stall / whole;
    }

    private static double sum(Map<Long, Long> times) {
        return times.values().stream().mapToDouble(Long::doubleValue).sum();
    }

    /** What took the slowest process of each output longest, by step. */
    Map<Long, Long> slowest(ToLongFunction<Cost> time) {
        return perStep(time, Math::max);
    }

    private Map<Long, Long> quickest(ToLongFunction<Cost> time) {
        return perStep(time, Math::min);
    }

    private Map<Long, Long> perStep(ToLongFunction<Cost> time, BinaryOperator<Long> choice) {
        Map<Long, Long> times = new TreeMap<>();
        costs().forEach(c -> times.merge(c.step(), time.applyAsLong(c), choice));
        return times;
    }
}
