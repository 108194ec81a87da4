package dev.verbena.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.agrona.ErrorHandler;

/**
 * Runs agents by hand on the caller's thread, for tests and for a caller that has a loop of its
 * own. With a {@link VirtualClock} time jumps to the next deadline whenever nothing can be done.
 */
public final class AgentStepper implements AutoCloseable {
    private final List<ProtocolAgent> agents;
    private final VirtualClock clock;
    private final ErrorHandler errorHandler;
    private boolean isStarted;
    private boolean isClosed;

    /**
     * Agents in the order in which they are stepped.
     *
     * @param clock moved by {@link #runUntil}; null if the agents run on a real one
     */
    public AgentStepper(
            List<? extends ProtocolAgent> agents, VirtualClock clock, ErrorHandler errorHandler) {
        this.agents = new ArrayList<>(agents);
        this.clock = clock;
        this.errorHandler = errorHandler;
    }

    /**
     * One duty cycle of each agent. An agent that throws counts as one that did nothing; the error
     * goes to the handler and the others still run.
     *
     * @return work done by all
     */
    public int step() {
        if (isClosed) {
            throw new IllegalStateException("stepper is closed");
        }
        if (!isStarted) {
            isStarted = true;
            agents.forEach(ProtocolAgent::onStart);
        }
        int work = 0;
        for (int i = 0; i < agents.size(); i++) {
            int done = AgentThread.cycle(agents.get(i), errorHandler);
            if (done == AgentThread.TERMINATED) {
                AgentThread.closeAll(List.of(agents.remove(i--)), errorHandler);
            } else {
                work += Math.max(done, 0);
            }
        }
        return work;
    }

    /**
     * Steps until {@code condition} holds, jumping to the next deadline when a step did no work.
     *
     * @return true if it holds; false after {@code stepsMax} steps, or when there is neither work
     *     nor a deadline left (without a virtual clock only the former)
     */
    public boolean runUntil(BooleanSupplier condition, int stepsMax) {
        for (int i = 0; i < stepsMax; i++) {
            if (condition.getAsBoolean()) {
                return true;
            }
            if (step() == 0 && clock != null && !condition.getAsBoolean() && !jump()) {
                return false;
            }
        }
        return condition.getAsBoolean();
    }

    private boolean jump() {
        long now = clock.nanoTime();
        long wait = AgentThread.untilDeadlineNs(agents, now);
        if (wait == ProtocolAgent.NO_DEADLINE) {
            return false;
        }
        clock.advanceNs(Math.max(wait, 1));
        return true;
    }

    /** Closes the agents, the last first. Idempotent. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            if (isStarted) {
                AgentThread.closeAll(agents, errorHandler);
            }
        }
    }
}
