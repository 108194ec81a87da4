package dev.verbena.cli;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Waits for the wish to end: Ctrl-C, a TERM signal, or the end of the parent. The JVM then waits
 * for the program to close what it opened.
 */
final class Termination implements AutoCloseable {
    private final CountDownLatch asked = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Thread hook;

    /**
     * Begins to listen for the wish.
     *
     * @param closeTimeoutMs longest time that the JVM waits for {@link #close}
     */
    Termination(long closeTimeoutMs) {
        hook =
                new Thread(
                        () -> {
                            asked.countDown();
                            try {
                                if (!closed.await(closeTimeoutMs, TimeUnit.MILLISECONDS)) {
                                    System.err.println("verbena: gave up closing in order");
                                }
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        },
                        "termination");
        Runtime.getRuntime().addShutdownHook(hook);
        ChildProcess.endWithParent(asked::countDown);
    }

    /** Waits; true if the end is wished for. */
    boolean await(long timeoutMs) throws InterruptedException {
        return asked.await(timeoutMs, TimeUnit.MILLISECONDS);
    }

    /** True if the end is wished for. */
    boolean isAsked() {
        return asked.getCount() == 0;
    }

    /** Everything is closed: the JVM may end. */
    @Override
    public void close() {
        closed.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // the JVM is ending already, and no longer waits
        }
    }
}
