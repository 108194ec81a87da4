package dev.verbena.flesnet;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.input.InputEngine;
import dev.verbena.staging.host.AgentHost;

/**
 * An input node: sends what a {@link MicrosliceSource} gives to the compute nodes of the run.
 * Thread-safe.
 */
public final class FlesnetInput implements AutoCloseable {
    private final InputEngine engine;
    private final AgentHost host;

    private FlesnetInput(FlesnetContext context, InputEngine engine) {
        this.engine = engine;
        this.host = new AgentHost(context.environment(), FlesnetException::new);
    }

    /** An input node whose {@link #agent()} the caller runs. */
    public static FlesnetInput embed(FlesnetContext context, int input, MicrosliceSource source) {
        return new FlesnetInput(context, new InputEngine(context, input, source));
    }

    /** An input node on a thread of its own; closing it ends the thread. */
    public static FlesnetInput launch(FlesnetContext context, int input, MicrosliceSource source) {
        FlesnetInput made = embed(context, input, source);
        made.host.start(
                AgentThread.builder("flesnet-input-" + input, context.environment())
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

    /** Whether everything was sent, built and released. */
    public boolean isDone() {
        return engine.isDone();
    }

    /** Why the run ended early; null if it did not. */
    public FlesnetException failure() {
        return engine.failure();
    }

    /** Counts. */
    public InputStatistics statistics() {
        return engine.statistics();
    }

    /** Ends the thread, if there is one; a run that is not done is aborted. */
    @Override
    public void close() {
        host.close();
    }
}
