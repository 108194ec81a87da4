package dev.verbena.flesnet;

import dev.verbena.flesnet.input.InputEngine;

/**
 * An input node: sends what a {@link MicrosliceSource} gives to the compute nodes of the run.
 * Thread-safe.
 */
public final class FlesnetInput extends FlesnetNode {
    private final InputEngine engine;

    private FlesnetInput(InputEngine engine) {
        super(engine);
        this.engine = engine;
    }

    /** An input node whose {@link #agent()} the caller runs. */
    public static FlesnetInput embed(FlesnetContext context, int input, MicrosliceSource source) {
        return new FlesnetInput(new InputEngine(context, input, source));
    }

    /** An input node on a thread of its own; closing it ends the thread. */
    public static FlesnetInput launch(FlesnetContext context, int input, MicrosliceSource source) {
        FlesnetInput made = embed(context, input, source);
        made.start(context);
        return made;
    }

    /** Counts. */
    public InputStatistics statistics() {
        return engine.statistics();
    }
}
