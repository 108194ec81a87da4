package dev.verbena.nsim;

import dev.verbena.nsim.network.LinkDetails;
import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Interpreter;
import dev.verbena.nsim.program.Script;
import dev.verbena.nsim.topology.Topology;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.HdrHistogram.Histogram;

/** What came of a run. Times are virtual picoseconds from its beginning. */
public final class SimulationResult {
    private static final double BYTES_PER_PS_TO_GB_PER_S = 1_000;

    private final Topology topology;
    private final Script script;
    private final List<Interpreter> interpreters;
    private final IntUnaryOperator partOf;
    private final Histogram latency;
    private final LinkStatistics links;
    private final LinkDetails details;
    private final long events;
    private final long traceHash;
    private final long executionPs;
    private final long lastPs;

    SimulationResult(
            Topology topology,
            Script script,
            long events,
            long traceHash,
            LinkStatistics links,
            LinkDetails details,
            List<Interpreter> interpreters,
            IntUnaryOperator partOf) {
        this.topology = topology;
        this.script = script;
        this.events = events;
        this.traceHash = traceHash;
        this.links = links;
        this.details = details;
        this.interpreters = interpreters;
        this.partOf = partOf;
        latency = interpreters.get(0).latency();
        for (int i = 1; i < interpreters.size(); i++) {
            latency.add(interpreters.get(i).latency());
        }
        long latest = 0;
        for (int rank = 0; rank < script.size(); rank++) {
            latest = Math.max(latest, endPs(rank));
        }
        executionPs = latest;
        for (Interpreter interpreter : interpreters) {
            latest = Math.max(latest, interpreter.lastPs());
        }
        lastPs = latest;
    }

    private Interpreter of(int rank) {
        return interpreters.get(partOf.applyAsInt(rank));
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

    /**
     * When the last process had come to its end and the last put and get was complete; a put costs
     * its process no time, so that may be long after {@link #executionPs()}.
     */
    public long lastPs() {
        return lastPs;
    }

    /** When a process came to its end. */
    public long endPs(int rank) {
        return of(rank).endPs(rank);
    }

    /** How long a process computed. */
    public long computePs(int rank) {
        return of(rank).computePs(rank);
    }

    /** How long a process waited for puts of others. */
    public long pollPs(int rank) {
        return of(rank).pollPs(rank);
    }

    /** How long a process waited for its own puts and gets to complete. */
    public long completePs(int rank) {
        return of(rank).completePs(rank);
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
        return latency;
    }

    /** What went over each cable. */
    public LinkStatistics links() {
        return links;
    }

    /**
     * Queues and the use of cables over time; null unless {@link
     * NetworkContext#isDetailed(boolean)}, and at other levels than that of packets.
     */
    public LinkDetails details() {
        return details;
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
     * Bytes that a process sent, per time until {@link #lastPs()}, averaged over processes: GB/s, a
     * GB being 10^9 bytes.
     */
    public double bandwidthPerProcess() {
        return lastPs == 0
                ? 0
                : BYTES_PER_PS_TO_GB_PER_S * script.putBytes() / script.size() / lastPs;
    }
}
