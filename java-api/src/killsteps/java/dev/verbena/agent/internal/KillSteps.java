package dev.verbena.agent.internal;

import java.util.concurrent.atomic.AtomicLong;

/** Labelled steps to be killed at: the form of the test build ({@code -Dverbena.killsteps}). */
public final class KillSteps {
    /** Whether this build has steps. */
    public static final boolean ENABLED = true;

    /** As in the C code: {@code label:n}. */
    private static final String[] KILL_AT =
            System.getenv().getOrDefault("VERBENA_KILL_AT", ":0").split(":");

    private static final AtomicLong STEPS = new AtomicLong();

    private KillSteps() {}

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
