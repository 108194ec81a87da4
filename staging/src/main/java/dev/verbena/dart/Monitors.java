package dev.verbena.dart;

import dev.verbena.agent.internal.Interrupts;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;

/** Waiting of callers for what agents do. */
final class Monitors {
    private Monitors() {}

    /**
     * Waits until the condition holds; whoever makes it true notifies the monitor.
     *
     * @return false if it does not hold within the time
     * @throws DartException INTERRUPTED; the thread's mark is still set
     */
    static boolean await(
            Object monitor, NanoClock clock, BooleanSupplier condition, long timeoutNs) {
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
                    throw new DartException(
                            DartException.Code.INTERRUPTED,
                            "the thread was interrupted while it waited; the mark is still set",
                            e);
                }
            }
            return true;
        }
    }
}
