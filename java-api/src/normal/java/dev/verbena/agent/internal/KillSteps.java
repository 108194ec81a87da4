package dev.verbena.agent.internal;

/**
 * Labelled steps at which tests kill a process. This is the form of ordinary builds, which have
 * none. The test build ({@code -Dverbena.killsteps}) takes the other form, from {@code
 * src/killsteps}. A call stands behind {@code if (KillSteps.ENABLED)}, so that the compiler leaves
 * it out of ordinary class files.
 */
public final class KillSteps {
    /** Whether this build has steps; a constant, so that the compiler can drop what it guards. */
    public static final boolean ENABLED = false;

    private KillSteps() {}

    /** Nothing in this build. */
    public static void step(String label) {}
}
