package dev.verbena.flesnet.dfs;

/**
 * One replica of the scheduler: history manager, proposer and clock synchroniser (section 5). Any
 * number of replicas work without knowing one another: a proposal is a function of what inputs
 * report. One thread; allocates nothing after it was made.
 */
public final class ScheduleEngine {
    private final DfsParameters parameters;
    private final IntervalRanges ranges;
    private final HistoryManager history;
    private final Proposer proposer;
    private final ClockSynchronizer[] clocks;
    private final long[] requests;

    /**
     * A replica that has seen nothing.
     *
     * @param ranges may be changed by its owner when compute nodes fail
     */
    public ScheduleEngine(DfsParameters parameters, int inputs, IntervalRanges ranges) {
        this.parameters = parameters;
        this.ranges = ranges;
        history = new HistoryManager(inputs, parameters.history());
        proposer = new Proposer(parameters, history);
        clocks = new ClockSynchronizer[inputs];
        requests = new long[inputs];
        for (int i = 0; i < inputs; i++) {
            clocks[i] = new ClockSynchronizer(parameters.history());
            requests[i] = -1;
        }
    }

    /** Both clocks at a common moment. */
    public void onBegin(int input, long localNs, long inputNs) {
        clocks[input].begin(localNs, inputNs);
    }

    /**
     * An input measured an interval.
     *
     * @param measured times on the input's clock
     * @param requested interval that it wants a proposal for; -1: none
     * @param sentNs the input's time when it sent this
     * @param latencyNs how long it travelled, as far as the input knows
     * @param localNs own time
     */
    public void onReport(
            int input,
            IntervalMetadata measured,
            long requested,
            long sentNs,
            long latencyNs,
            long localNs) {
        if (measured.interval() < 0 || measured.durationNs() < 0) {
            throw new IllegalArgumentException(
                    "interval %s with duration %s of input %s"
                            .formatted(measured.interval(), measured.durationNs(), input));
        }
        requests[input] = Math.max(requests[input], requested);
        long start = clocks[input].own(measured.startNs());
        while (history.completeMissed(input, measured.interval())) {
            propose();
        }
        if (history.record(input, measured.interval(), start, measured.durationNs())) {
            clocks[input].onReport(localNs, sentNs, latencyNs);
            advance();
        }
    }

    private void advance() {
        while (history.completeNext()) {
            propose();
        }
    }

    private void propose() {
        // One that began late is silent until it has seen a whole history.
        if (history.base() == 0
                || history.completed() - history.base() + 1 >= parameters.history()) {
            proposer.propose();
        }
    }

    /** An input is lost. */
    public void removeInput(int input) {
        history.remove(input);
        requests[input] = -1;
        advance();
    }

    /** Compute nodes are lost; their ranges were changed. */
    public void onComputesLost() {
        proposer.reset();
    }

    /**
     * The proposal that an input has asked for and not yet got, if there is one.
     *
     * @return false if there is none now
     */
    public boolean answer(int input, IntervalMetadata proposal) {
        long k = requests[input];
        if (k < 0 || !proposer.hasProposal(k)) {
            return false;
        }
        requests[input] = -1;
        proposal.set(
                k,
                ranges.rounds(k),
                ranges.first(k),
                ranges.last(k),
                clocks[input].input(proposer.start(k)),
                proposer.duration(k));
        return true;
    }

    /** Whether an input waits for a proposal that there is. */
    public boolean hasAnswer(int input) {
        return requests[input] >= 0 && proposer.hasProposal(requests[input]);
    }

    /** What was measured. */
    public HistoryManager history() {
        return history;
    }

    /** What is proposed. */
    public Proposer proposer() {
        return proposer;
    }
}
