package dev.verbena.memory;

import java.io.PrintStream;
import java.lang.ref.Cleaner;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Notices native resources that were dropped without being closed. It only reports: nothing is ever
 * freed behind the owner's back. Thread-safe.
 *
 * <p>With the system property {@code verbena.leaks=report} the stack of creation is kept for every
 * resource and printed to standard error when a leak is found; without it, leaks are counted only.
 */
public final class Leaks {
    /** System property; {@code report}: print leaks with the stack of their creation. */
    public static final String PROPERTY = "verbena.leaks";

    private static final boolean REPORTING = "report".equals(System.getProperty(PROPERTY));
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong OPEN = new AtomicLong();
    private static final AtomicLong LEAKED = new AtomicLong();

    private Leaks() {}

    /** One resource under watch. Must not refer to the resource. */
    public static final class Watch implements Runnable {
        private final String what;
        private final Throwable creation;
        private Cleaner.Cleanable cleanable;
        private volatile boolean isClosed;

        private Watch(String what) {
            this.what = what;
            this.creation = REPORTING ? new Throwable("created here") : null;
        }

        /** The resource was closed in order. Idempotent. */
        public void closed() {
            isClosed = true;
            cleanable.clean();
        }

        /** Called once, by the cleaner or by {@link #closed}; not for callers. */
        @Override
        public void run() {
            OPEN.decrementAndGet();
            if (isClosed) {
                return;
            }
            LEAKED.incrementAndGet();
            if (REPORTING) {
                PrintStream err = System.err;
                err.println("verbena: leaked, never closed: " + what);
                creation.printStackTrace(err);
            }
        }
    }

    /** Watches a resource until {@link Watch#closed()}. */
    public static Watch watch(Object resource, String what) {
        Watch watch = new Watch(what);
        OPEN.incrementAndGet();
        watch.cleanable = CLEANER.register(resource, watch);
        return watch;
    }

    /** Resources that are open now. */
    public static long openCount() {
        return OPEN.get();
    }

    /** Resources that the garbage collector found unreachable and unclosed so far. */
    public static long leakedCount() {
        return LEAKED.get();
    }
}
