package dev.verbena.nessie.xfer;

/**
 * What each client of a run does.
 *
 * @param method how arrays travel
 * @param isAsync whether all requests of a trial are under way together, or one after the other
 * @param count elements of a request
 * @param requests of a trial
 * @param trials each begins when all clients have ended the one before
 * @param check how bytes are checked; a damaged one ends the run
 */
public record XferPlan(
        XferMethod method, boolean isAsync, int count, int requests, int trials, Validation check) {
    /** Refuses numbers below 1. */
    public XferPlan {
        if (count < 1 || count > DataArray.COUNT_MAX || requests < 1 || trials < 1) {
            throw new IllegalArgumentException(
                    "%s elements, %s requests, %s trials".formatted(count, requests, trials));
        }
    }
}
