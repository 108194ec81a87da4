package dev.verbena.staging;

import dev.verbena.agent.internal.Interrupts;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;

/** Waiting of callers for what agents do. */
public final class Monitors {
    private Monitors() {}

    /**
     * Waits until the condition holds; whoever makes it true notifies the monitor.
     *
     * @return false if it does not hold within the time
     * @throws RuntimeException made by {@code failure} when the thread is interrupted; its mark is
     *     still set
     */
    public static boolean await(
            Object monitor,
            NanoClock clock,
            BooleanSupplier condition,
            long timeoutNs,
            BiFunction<String, InterruptedException, RuntimeException> failure) {
        long start = clock.nanoTime();
        synchronized (monitor) {
            while (!condition.getAsBoolean()) {
                long leftNs = timeoutNs - (clock.nanoTime() - start);
                if (leftNs <= 0) {
                    return false;
                }
                try {
                    // At most 20 ms at a time: some conditions change without a notification.
                    monitor.wait(Math.min(20, leftNs / 1_000_000 + 1));
                } catch (InterruptedException e) {
                    Interrupts.keep();
                    throw failure.apply(
                            "the thread was interrupted while it waited; the mark is still set", e);
                }
            }
            return true;
        }
    }
}
