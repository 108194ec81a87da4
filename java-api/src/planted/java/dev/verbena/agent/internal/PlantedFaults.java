package dev.verbena.agent.internal;

/**
 * Switches for faults that the tests must catch: the form of the test build ({@code
 * -Dverbena.planted}). At most one switch is on, named by the environment variable {@code
 * VERBENA_PLANTED}, which child processes and the C code see too.
 */
public final class PlantedFaults {
    /** Whether this build has switches. */
    public static final boolean ENABLED = true;

    private static final String ON = System.getenv().getOrDefault("VERBENA_PLANTED", "");

    private PlantedFaults() {}

    /** Whether the fault of this name is on. One string comparison. */
    public static boolean isOn(String name) {
        return ON.equals(name);
    }
}
