package dev.verbena.nsim.scenario;

import dev.verbena.nsim.SimulationResult;
import java.util.List;
import java.util.Locale;

/** The scenarios that come with the simulator. */
public final class Scenarios {
    private static final int PER_LEAF = 4;
    private static final int LEAVES_MIN = 4;

    private static final List<Scenario> ALL =
            List.of(
                    new RandomRing(),
                    new RingBarrier(),
                    new RecursiveDoubling(),
                    new ParticleExchange(false),
                    new ParticleExchange(true));

    private Scenarios() {}

    /** All of them. */
    public static List<Scenario> all() {
        return ALL;
    }

    /**
     * One by its name.
     *
     * @throws IllegalArgumentException if there is none; names those that there are
     */
    public static Scenario named(String name) {
        return ALL.stream()
                .filter(s -> s.name().equals(name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalArgumentException(
                                        "there is no scenario '"
                                                + name
                                                + "'; there are "
                                                + ALL.stream().map(Scenario::name).toList()));
    }

    /** The paper's kind of machine: leaf switches of 4 nodes, a full fat tree of 2 levels. */
    static String paperMachine(int nodes) {
        int leaves = Math.max(LEAVES_MIN, (nodes + PER_LEAF - 1) / PER_LEAF);
        return "fattree(levels=2,down=" + PER_LEAF + ",up=" + PER_LEAF + ",leaves=" + leaves + ")";
    }

    static String barrierLine(SimulationResult result) {
        return String.format(Locale.ROOT, "the barrier takes %.4f us", result.executionPs() / 1e6);
    }
}
