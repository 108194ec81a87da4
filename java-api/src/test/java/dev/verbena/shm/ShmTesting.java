package dev.verbena.shm;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.concurrent.atomic.AtomicInteger;

/** Transports for tests, in a job of their own for each test JVM. */
public final class ShmTesting {
    private static final AtomicInteger COUNT = new AtomicInteger();

    private ShmTesting() {}

    /** Job of this JVM. */
    public static String job() {
        return "test-" + ProcessHandle.current().pid();
    }

    /** A context with the job set and a name of its own. */
    public static TransportContext context(String name) {
        return new TransportContext().job(job()).name(name + "-" + COUNT.incrementAndGet());
    }

    /** A transport with default options. */
    public static Transport open(String name) {
        return Transports.open("shm", context(name));
    }
}
