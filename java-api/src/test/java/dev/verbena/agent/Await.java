package dev.verbena.agent;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Waits for a condition of another thread or process, with a limit that only a hang reaches. */
public final class Await {
    private static final long LIMIT_NS = 60_000_000_000L;

    private Await() {}

    /**
     * Returns when {@code condition} holds; an {@link AssertionError} names {@code what} if not.
     */
    public static void until(String what, BooleanSupplier condition) {
        until(() -> what, condition);
    }

    /** As above with a text that is made only when needed. */
    public static void until(Supplier<String> what, BooleanSupplier condition) {
        until(what, () -> 0, condition);
    }

    /**
     * As above for what this thread itself brings about: {@code step} answers how much it has done,
     * and where that is something the next one follows without a pause.
     */
    public static void until(Supplier<String> what, IntSupplier step, BooleanSupplier condition) {
        long start = System.nanoTime();
        int work = step.getAsInt();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > LIMIT_NS) {
                throw new AssertionError("not within 60 s: " + what.get());
            }
            if (work == 0) {
                LockSupport.parkNanos(100_000);
            }
            work = step.getAsInt();
        }
    }
}
