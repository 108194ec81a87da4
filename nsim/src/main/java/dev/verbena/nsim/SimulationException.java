package dev.verbena.nsim;

/** A simulation came to no end: ranks wait for what nobody sends, or packets for one another. */
public final class SimulationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    SimulationException(String message) {
        super(message);
    }
}
