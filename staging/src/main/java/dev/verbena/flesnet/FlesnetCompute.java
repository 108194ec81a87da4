package dev.verbena.flesnet;

import dev.verbena.flesnet.compute.ComputeEngine;

/** A compute node: builds timeslices and hands them to a {@link TimesliceHandler}. Thread-safe. */
public final class FlesnetCompute extends FlesnetNode {
    private final ComputeEngine engine;

    private FlesnetCompute(ComputeEngine engine) {
        super(engine);
        this.engine = engine;
    }

    /** A compute node whose {@link #agent()} the caller runs. */
    public static FlesnetCompute embed(
            FlesnetContext context, int compute, TimesliceHandler handler) {
        return new FlesnetCompute(new ComputeEngine(context, compute, handler));
    }

    /** A compute node on a thread of its own; closing it ends the thread. */
    public static FlesnetCompute launch(
            FlesnetContext context, int compute, TimesliceHandler handler) {
        FlesnetCompute made = embed(context, compute, handler);
        made.start(context);
        return made;
    }

    /** Counts. */
    public ComputeStatistics statistics() {
        return engine.statistics();
    }

    /** Bytes in use of the ring of an input; on the agent's thread, or when it does not run. */
    public long ringUsed(int input) {
        return engine.ringUsed(input);
    }
}
