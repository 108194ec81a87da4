package dev.verbena.flesnet;

import dev.verbena.agent.AgentThread;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.wire.NodeEngine;
import org.agrona.CloseHelper;

/** A node of a run: an input node or a compute node. Thread-safe. */
public abstract class FlesnetNode implements AutoCloseable {
    private final NodeEngine engine;
    private AgentThread thread;

    FlesnetNode(NodeEngine engine) {
        this.engine = engine;
    }

    /** Starts a thread of its own. */
    final void start(FlesnetContext context) {
        thread =
                AgentThread.builder(engine.roleName(), context.environment())
                        .sleepMaxNs(1_000_000)
                        .awakeNs(context.awakeNs())
                        .transport(engine::transport)
                        .agent(engine)
                        .start();
    }

    /** Its agent. */
    public final ProtocolAgent agent() {
        return engine;
    }

    /** Whether everything was sent, built and released, as far as this node is concerned. */
    public final boolean isDone() {
        return engine.isDone();
    }

    /** Why the run ended early; null if it did not. */
    public final FlesnetException failure() {
        return engine.failure();
    }

    /** Ends the thread, if there is one; a run that is not done is aborted. */
    @Override
    public final void close() {
        CloseHelper.close(thread);
    }
}
