package dev.verbena.nsim.program;

/**
 * A simulation came to no end: ranks wait for what no rank sends, packets wait for one another, or
 * a message has no room where it is received.
 */
public final class SimulationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Says what is wrong and what to do. */
    public SimulationException(String message) {
        super(message);
    }
}
