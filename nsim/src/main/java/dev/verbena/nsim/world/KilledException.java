package dev.verbena.nsim.world;

/**
 * Leaves a call that waits, outside of a run, when the process that waits is killed meanwhile: its
 * clock stands still, so the wait would never end. To be caught by who drives that process.
 */
public final class KilledException extends RuntimeException {
    private static final long serialVersionUID = 1;

    KilledException(String message) {
        super(message);
    }
}
