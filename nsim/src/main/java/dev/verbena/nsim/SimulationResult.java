package dev.verbena.nsim;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.network.PacketNetwork;
import dev.verbena.nsim.program.Interpreter;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.topology.Topology;
import org.HdrHistogram.Histogram;

/** What came of a run. Times are virtual picoseconds from its beginning. */
public final class SimulationResult {
    private static final double BYTES_PER_PS_TO_GB_PER_S = 1_000;

    private final Topology topology;
    private final Script script;
    private final Interpreter interpreter;
    private final LinkStatistics links;
    private final long events;
    private final long traceHash;
    private final long executionPs;

    SimulationResult(
            Topology topology,
            Script script,
            Engine engine,
            PacketNetwork network,
            Interpreter interpreter) {
        this.topology = topology;
        this.script = script;
        this.interpreter = interpreter;
        links = network.links();
        events = engine.eventCount();
        traceHash = engine.traceHash();
        long latest = 0;
        for (int rank = 0; rank < script.size(); rank++) {
            latest = Math.max(latest, interpreter.endPs(rank));
        }
        executionPs = latest;
    }

    /** The machine's shape. */
    public Topology topology() {
        return topology;
    }

    /** How many processes ran. */
    public int processes() {
        return script.size();
    }

    /** When the last process came to its end. */
    public long executionPs() {
        return executionPs;
    }

    /** When a process came to its end. */
    public long endPs(int rank) {
        return interpreter.endPs(rank);
    }

    /** How long a process computed. */
    public long computePs(int rank) {
        return interpreter.computePs(rank);
    }

    /** How long a process waited for puts of others. */
    public long pollPs(int rank) {
        return interpreter.pollPs(rank);
    }

    /** How long a process waited for its own puts and gets to complete. */
    public long completePs(int rank) {
        return interpreter.completePs(rank);
    }

    /** Puts and gets of all processes. */
    public long putCount() {
        return script.putCount();
    }

    /** Bytes of the puts and gets of all processes. */
    public long putBytes() {
        return script.putBytes();
    }

    /** From call to data in memory, of all puts and gets, in nanoseconds. */
    public Histogram latency() {
        return interpreter.latency();
    }

    /** What went over each cable. */
    public LinkStatistics links() {
        return links;
    }

    /** Events that the run took. */
    public long events() {
        return events;
    }

    /** Equal in runs with the same events at the same times. */
    public long traceHash() {
        return traceHash;
    }

    /**
     * Bytes that a process sent, per time, averaged over processes: GB/s, a GB being 10^9 bytes.
     */
    public double bandwidthPerProcess() {
        return executionPs == 0
                ? 0
                : BYTES_PER_PS_TO_GB_PER_S * script.putBytes() / script.size() / executionPs;
    }
}
