package dev.verbena.nsim.scenario;

import java.util.Map;

/**
 * Options of a scenario.
 *
 * @param seed for everything random
 * @param bytes the size of a message; negative for the scenario's own
 * @param parameters of the scenario, with values other than its own
 */
public record ScenarioOptions(long seed, long bytes, Map<String, Long> parameters) {
    /** Seed 1 and the scenario's own size. */
    public static final ScenarioOptions DEFAULT = new ScenarioOptions(1, -1);

    /** Without parameters. */
    public ScenarioOptions(long seed, long bytes) {
        this(seed, bytes, Map.of());
    }
}
