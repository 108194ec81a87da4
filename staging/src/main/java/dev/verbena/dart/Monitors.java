package dev.verbena.dart;

import java.util.function.BooleanSupplier;
import org.agrona.concurrent.NanoClock;

/** Waiting of callers for what agents do. */
final class Monitors {
    private Monitors() {}

    /**
     * Waits until the condition holds; whoever makes it true notifies the monitor.
     *
     * @return false if it does not hold within the time
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
                    throw new DartException(
                            DartException.Code.TIMEOUT, "interrupted while waiting", e);
                }
            }
            return true;
        }
    }
}
