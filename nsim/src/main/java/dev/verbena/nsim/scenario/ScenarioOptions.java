package dev.verbena.nsim.scenario;

/**
 * What a scenario can be told.
 *
 * @param seed for everything random
 * @param bytes the size of a message; negative for the scenario's own
 */
public record ScenarioOptions(long seed, long bytes) {
    /** Seed 1 and the scenario's own size. */
    public static final ScenarioOptions DEFAULT = new ScenarioOptions(1, -1);

    long bytesOr(long usual) {
        return bytes < 0 ? usual : bytes;
    }
}
