package dev.verbena.agent;

import org.agrona.concurrent.Agent;

/**
 * A duty cycle of a protocol engine. {@code doWork()} does what can be done now, bounded, and never
 * blocks; when nothing was done the runner may sleep until {@link #nextDeadlineNs()}, an event of
 * the transport, or a wake-up.
 */
public interface ProtocolAgent extends Agent {
    /** No deadline: only an event can make work. */
    long NO_DEADLINE = Long.MAX_VALUE;

    /** When {@code doWork()} wants to be called again at the latest, on the environment's clock. */
    long nextDeadlineNs();
}
