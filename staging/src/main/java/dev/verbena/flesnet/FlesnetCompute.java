package dev.verbena.flesnet;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.compute.ComputeEngine;
import dev.verbena.staging.host.AgentHost;

/** A compute node: builds timeslices and hands them to a {@link TimesliceHandler}. Thread-safe. */
public final class FlesnetCompute implements AutoCloseable {
    private final ComputeEngine engine;
    private final AgentHost host;

    private FlesnetCompute(FlesnetContext context, ComputeEngine engine) {
        this.engine = engine;
        this.host = new AgentHost(context.environment(), FlesnetException::new);
    }

    /** A compute node whose {@link #agent()} the caller runs. */
    public static FlesnetCompute embed(
            FlesnetContext context, int compute, TimesliceHandler handler) {
        return new FlesnetCompute(context, new ComputeEngine(context, compute, handler));
    }

    /** A compute node on a thread of its own; closing it ends the thread. */
    public static FlesnetCompute launch(
            FlesnetContext context, int compute, TimesliceHandler handler) {
        FlesnetCompute made = embed(context, compute, handler);
        made.host.start(
                AgentThread.builder("flesnet-compute-" + compute, context.environment())
                        .sleepMaxNs(1_000_000)
                        .awakeNs(context.awakeNs())
                        .transport(made.engine::transport)
                        .agent(made.engine));
        return made;
    }

    /** Its agent. */
    public ProtocolAgent agent() {
        return engine;
    }

    /** Whether all inputs have ended and everything was released. */
    public boolean isDone() {
        return engine.isDone();
    }

    /** Why the run ended early; null if it did not. */
    public FlesnetException failure() {
        return engine.failure();
    }

    /** Counts. */
    public ComputeStatistics statistics() {
        return engine.statistics();
    }

    /** Bytes in use of the ring of an input; on the agent's thread, or when it does not run. */
    public long ringUsed(int input) {
        return engine.ringUsed(input);
    }

    /** Ends the thread, if there is one. */
    @Override
    public void close() {
        host.close();
    }
}
