package dev.verbena.nsim.savime;

import dev.verbena.agent.ProtocolAgent;
import org.agrona.concurrent.AgentTerminationException;

/**
 * An agent that can be told to end: its process then steps it no more and closes it, as a thread
 * does. World's thread.
 */
final class EndingAgent implements ProtocolAgent {
    private final ProtocolAgent agent;
    private boolean isEnding;
    private boolean isClosed;

    EndingAgent(ProtocolAgent agent) {
        this.agent = agent;
    }

    /** With the next step. */
    void end() {
        isEnding = true;
    }

    boolean isClosed() {
        return isClosed;
    }

    @Override
    public void onStart() {
        agent.onStart();
    }

    @Override
    public int doWork() throws Exception {
        if (isEnding) {
            throw new AgentTerminationException();
        }
        return agent.doWork();
    }

    @Override
    public long nextDeadlineNs() {
        return agent.nextDeadlineNs();
    }

    @Override
    public void onClose() {
        agent.onClose();
        isClosed = true;
    }

    @Override
    public String roleName() {
        return agent.roleName();
    }
}
