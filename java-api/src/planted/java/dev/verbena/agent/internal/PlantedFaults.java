package dev.verbena.agent.internal;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Switches for faults that the tests must catch: the form of the test build ({@code
 * -Dverbena.planted}). At most one switch is on, named by the environment variable {@code
 * VERBENA_PLANTED}, which child processes and the C code see too.
 */
public final class PlantedFaults {
    /** Whether this build has switches. */
    public static final boolean ENABLED = true;

    private static final String ON = System.getenv().getOrDefault("VERBENA_PLANTED", "");

    /** As in the C code: {@code label:n}. */
    private static final String[] KILL_AT =
            System.getenv().getOrDefault("VERBENA_KILL_AT", ":0").split(":");

    private static final AtomicLong STEPS = new AtomicLong();

    private PlantedFaults() {}

    /** Whether the fault of this name is on. One string comparison. */
    public static boolean isOn(String name) {
        return ON.equals(name);
    }

    /**
     * A labelled step: the environment variable {@code VERBENA_KILL_AT} ends the process here, at
     * once, when it comes here for the n-th time.
     */
    public static void step(String label) {
        if (label.equals(KILL_AT[0]) && STEPS.incrementAndGet() == Long.parseLong(KILL_AT[1])) {
            Runtime.getRuntime().halt(137);
        }
    }
}
