package dev.verbena.nessie.nnti;

import dev.verbena.agent.Await;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** Two NNTI transports on one thread, connected. */
public final class NntiPair implements AutoCloseable {
    static {
        dev.verbena.softnic.NativeAccess.open();
    }

    private static final AtomicInteger NUMBERS = new AtomicInteger();

    final NntiTransport left;
    final NntiTransport right;
    final NntiPeer toRight;

    NntiPair(String scheme, NntiOptions options) {
        TransportContext context = context();
        left = new NntiTransport(Transports.open(scheme, context), options);
        right = new NntiTransport(Transports.open(scheme, context), options);
        toRight = left.startConnect(right.url(), 10_000_000_000L);
        pump("connected", () -> toRight.state() == NntiPeer.State.READY);
    }

    /** Of a job of its own. */
    public static TransportContext context() {
        String job = "nessie" + ProcessHandle.current().pid() + "-" + NUMBERS.incrementAndGet();
        return new TransportContext().job(job);
    }

    void pump(String what, BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    left.progress();
                    right.progress();
                    return condition.getAsBoolean();
                });
    }

    @Override
    public void close() {
        left.close();
        right.close();
    }
}
