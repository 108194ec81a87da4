package dev.verbena.agent.internal;

/**
 * Switches for faults that the tests must catch. This is the form of ordinary builds: there are no
 * switches. The test build ({@code -Dverbena.planted}) takes the other form, from {@code
 * src/planted}.
 *
 * <p>Written at the place of the fault as
 *
 * <pre>{@code
 * if (PlantedFaults.ENABLED && PlantedFaults.isOn("dart-ack-before-store")) {
 *     ...
 * }
 * }</pre>
 *
 * <p>so that the compiler leaves the branch out of ordinary class files. Each name stands in {@code
 * ci/planted-faults.txt} with the test that must fail.
 */
public final class PlantedFaults {
    /**
     * Whether this build has switches; a constant, so that the compiler can drop what it guards.
     */
    public static final boolean ENABLED = false;

    private PlantedFaults() {}

    /** Always false in this build. */
    public static boolean isOn(String name) {
        return false;
    }

    /** Nothing in this build. */
    public static void step(String label) {}
}
