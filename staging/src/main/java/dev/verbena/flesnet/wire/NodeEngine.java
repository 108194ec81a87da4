package dev.verbena.flesnet.wire;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.flesnet.FlesnetContext;
import dev.verbena.flesnet.FlesnetException;
import dev.verbena.transport.Transport;

/** The life of a node, input or compute node: how it begins, and how it has ended. */
public abstract class NodeEngine implements ProtocolAgent {
    private final String name;
    private final String role;
    private Transport transport;
    private volatile boolean isDone;
    private volatile FlesnetException failure;

    /**
     * Not begun.
     *
     * @param name for people
     * @param role of its thread
     */
    protected NodeEngine(String name, String role) {
        this.name = name;
        this.role = role;
    }

    /** Begins, on the engine's thread. */
    protected abstract void begin();

    @Override
    public final void onStart() {
        try {
            begin();
        } catch (RuntimeException e) {
            // Its thread ends with this: who waits for the node must see why.
            failure = new FlesnetException(name + ": " + e.getMessage(), e);
            throw e;
        }
    }

    /** Opens its transport to so many peers. */
    protected final Transport openTransport(FlesnetContext context, int peers) {
        transport = context.environment().openTransport(context.scheme(), context.transport(peers));
        return transport;
    }

    /**
     * The run has ended.
     *
     * @param why null: in order
     * @return false if it had ended before
     */
    protected final boolean conclude(FlesnetException why) {
        if (isOver()) {
            return false;
        }
        failure = why;
        isDone = why == null;
        return true;
    }

    /** The engine's thread ends: a run that has not ended fails. */
    protected final void concludeThread() {
        conclude(new FlesnetException(role + ": its thread has ended"));
    }

    /** Whether the run has ended, in order or not. Any thread. */
    protected final boolean isOver() {
        return isDone || failure != null;
    }

    /** Whether the run has ended in order: this node has nothing to do any more. Any thread. */
    public final boolean isDone() {
        return isDone;
    }

    /** Why the run ended early; null if it did not. Any thread. */
    public final FlesnetException failure() {
        return failure;
    }

    /** Where the engine's thread sleeps; null before it has begun. */
    public final Transport transport() {
        return transport;
    }

    @Override
    public final String roleName() {
        return role;
    }
}
